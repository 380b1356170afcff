import { QueryQuarantine } from '../../../../domain/insight/metrics/query-quarantine.ts';

const HOUR_MS = 60 * 60_000;

/** The store is lost while these queries run. */
function lose(quarantine: QueryQuarantine, ...queries: string[]): void {
  const running = queries.map((query) => quarantine.begin(query));
  for (const one of running) {
    one?.wasLost();
    one?.end();
  }
}
const isAsked = (quarantine: QueryQuarantine, query: string): boolean => {
  const running = quarantine.begin(query);
  running?.end();
  return running !== undefined;
};

test('a query that ran alone when the store was lost is refused for an hour', () => {
  let now = 0;
  const quarantine = new QueryQuarantine(() => now);
  lose(quarantine, 'a');
  expect(isAsked(quarantine, 'a')).toBe(false);
  expect(isAsked(quarantine, 'b')).toBe(true);
  now = HOUR_MS;
  expect(isAsked(quarantine, 'a')).toBe(true);
  lose(quarantine, 'a', 'a');
  expect(isAsked(quarantine, 'a')).toBe(false);
});

test('of several that ran, the one that was there each time is refused', () => {
  const quarantine = new QueryQuarantine(() => 0);
  lose(quarantine, 'a', 'b');
  expect(['a', 'b'].map((query) => isAsked(quarantine, query))).toEqual([true, true]);
  lose(quarantine, 'a', 'c');
  expect(['a', 'b', 'c'].map((query) => isAsked(quarantine, query))).toEqual([false, true, true]);
});
