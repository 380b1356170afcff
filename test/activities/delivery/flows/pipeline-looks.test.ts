import { PipelineLooks } from '../../../../activities/delivery/flows/pipeline-looks.ts';

const place = (tenantId: string, projectId = 'p') => ({ tenantId, projectId, platform: 'host-a' });

test('a host is asked so often a minute', () => {
  const looks = new PipelineLooks(2);
  const at = (tenantId: string, ...moments: number[]) => moments.map((now) => looks.take(place(tenantId), now));
  expect(at('a', 0, 1, 2, 59_999, 60_000)).toEqual(['taken', 'taken', 'none', 'none', 'taken']);
  expect(at('b', 2)).toEqual(['taken']);
});

test.each([
  [5_000, 4_999, 'paused'],
  [5_000, 5_000, 'taken'],
  [86_400_000, 899_999, 'paused'],
  [86_400_000, 900_000, 'taken'],
])('a host that asked for a pause of %s ms is, after %s ms, %s for the project, and no other', (forMs, after, look) => {
  const looks = new PipelineLooks();
  looks.pause(place('a'), forMs, 1_000);
  expect(looks.take(place('a'), 1_000 + after)).toBe(look);
  expect(looks.take(place('a', 'other'), 1_000 + after)).toBe('taken');
  expect(looks.take(place('b'), 1_000 + after)).toBe('taken');
});

test('it is known when the host of a run was asked last', () => {
  const looks = new PipelineLooks();
  looks.noteAsked('run', 7);
  expect([looks.askedAt('run'), looks.askedAt('other')]).toEqual([7, 0]);
});
