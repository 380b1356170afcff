import {
  isWholeOf,
  JOBS_MAX,
  logsToRead,
  mustAsk,
  noteLook,
  NOTHING_TOLD,
  tellLog,
  tellStates,
  toldAs,
} from '../../../../domain/delivery/flows/programs/pipeline-output-rules.ts';

const job = (id: string, state: string, { hasEnded = false, logId = null as string | null } = {}) => ({
  id,
  name: `stage / ${id}`,
  state,
  hasEnded,
  logId,
});
const part = (text: string, next: number, { isCut = false, isThere = true } = {}) => ({ isThere, text, next, isCut });

test('states are told when they change, and only then', () => {
  const first = tellStates(NOTHING_TOLD, [job('a', 'running'), job('b', 'pending')]);
  expect(first.lines).toEqual(['stage / a: running', 'stage / b: pending']);
  const next = tellStates(first.told, [job('a', 'running'), job('b', 'running'), job('c', 'pending')]);
  expect(next.lines).toEqual(['stage / b: running', 'stage / c: pending']);
  expect(tellStates(next.told, [job('a', 'running'), job('b', 'running'), job('c', 'pending')]).lines).toEqual([]);
});

test('a log is told from where it was left, until its job has ended', () => {
  const running = job('a', 'running', { logId: '1' });
  const { told } = tellStates(NOTHING_TOLD, [running]);
  const first = tellLog(told, running, part('one\r\ntwo\n', 9));
  expect(first.lines).toEqual(['[stage / a] one', '[stage / a] two']);
  expect(first.told.jobs.a).toMatchObject({ read: 9, isDone: false });
  expect(logsToRead(first.told, [running])).toEqual([running]);
  const ended = job('a', 'success', { hasEnded: true, logId: '1' });
  const last = tellLog(tellStates(first.told, [ended]).told, ended, part('three', 14));
  expect(last.lines).toEqual(['[stage / a] three']);
  expect(logsToRead(last.told, [ended])).toEqual([]);
  expect(isWholeOf(last.told, [ended])).toBe(true);
});

test('what was left out, or did not come, is said, and is not whole', () => {
  const ended = job('a', 'success', { hasEnded: true, logId: '1' });
  const cut = tellLog(NOTHING_TOLD, ended, part('end', 100_000, { isCut: true }));
  expect(cut.lines).toEqual(['[stage / a] (a part of the log is left out)', '[stage / a] end']);
  expect(isWholeOf(cut.told, [ended])).toBe(false);
  let { told } = tellStates(NOTHING_TOLD, [ended]);
  let asked = 0;
  for (; logsToRead(told, [ended]).length > 0; asked++)
    ({ told } = tellLog(told, ended, part('', 0, { isThere: false })));
  expect([asked, isWholeOf(told, [ended])]).toEqual([5, false]);
});

test('a log that is larger than is read ends, and one that fails keeps no other from being read', () => {
  const jobs = ['a', 'b', 'c', 'd', 'e'].map((id) => job(id, 'running', { logId: id }));
  const [first] = jobs;
  let { told } = tellStates(NOTHING_TOLD, jobs);
  const looked: string[] = [];
  for (let now = 1; now <= 3; now++)
    for (const { id } of logsToRead(told, jobs)) {
      looked.push(id);
      told = noteLook(told, job(id, 'running'), now);
    }
  expect(looked.join('')).toBe('abcdeabca');
  const large = tellLog(told, first as (typeof jobs)[0], { ...part('', 0, { isCut: true }), isTooLarge: true });
  expect(large.lines).toEqual(['[stage / a] (a part of the log is left out)']);
  expect(logsToRead(large.told, jobs).map(({ id }) => id)).not.toContain('a');
  expect(isWholeOf(large.told, jobs)).toBe(false);
});

test.each([
  ['a\0b', 'ab'],
  ['\u001b[2J\u001b[1;1Ha\u009b31mb\u001b]0;title\u0007', 'ab'],
  ['x'.repeat(5_000), 'x'.repeat(100)],
  [`${'x'.repeat(99)}\u{1F600}`, `${'x'.repeat(99)}\uFFFD`],
])('what a host calls a job (%j) is told as it can be stored', (said, shown) => {
  const jobs = [toldAs({ ...job(said, said), name: said })];
  const { told, lines } = tellStates(NOTHING_TOLD, jobs);
  expect(lines).toEqual([`${shown}: ${shown}`]);
  expect(told.jobs).toEqual({ [shown]: { state: shown, read: 0, isDone: false } });
});

test('of a part with very many lines the last are told, and how many are not', () => {
  const ended = job('a', 'success', { hasEnded: true, logId: '1' });
  const lines = Array.from({ length: 2_003 }, (_, at) => `${at}`);
  const told = tellLog(NOTHING_TOLD, ended, part(lines.join('\n'), 9_000));
  expect(told.lines.slice(0, 2)).toEqual(['[stage / a] (3 lines are left out)', '[stage / a] 3']);
  expect([told.lines.length, told.lines.at(-1)]).toEqual([2_001, '[stage / a] 2002']);
  expect(isWholeOf(told.told, [ended])).toBe(false);
});

test.each([
  ['no jobs', [], false],
  ['a job that goes on', [job('a', 'running')], false],
  ['jobs without logs that have ended', [job('a', 'skipped', { hasEnded: true })], true],
  [
    'more jobs than are listed',
    Array.from({ length: JOBS_MAX }, (_, at) => job(`${at}`, 'success', { hasEnded: true })),
    false,
  ],
])('of %s the output is whole: %s', (_, jobs, isWhole) => {
  expect(isWholeOf(tellStates(NOTHING_TOLD, jobs).told, jobs)).toBe(isWhole);
});

test.each([
  [29, 0, false],
  [30, 0, true],
  [599, 3_600, false],
  [600, 3_600, true],
  [600, 86_400, true],
])('a host that was asked %s s ago, of a run that goes on for %s s, must be asked: %s', (ago, since, must) => {
  expect(mustAsk({ ...NOTHING_TOLD, askedAt: 0 }, ago * 1_000, since * 1_000)).toBe(must);
});
