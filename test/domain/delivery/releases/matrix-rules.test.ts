import type { DeploymentFact } from '../../../../domain/delivery/deployments/deployed-rules.ts';
import {
  type CellReport,
  cellState,
  furthestRun,
  storyOf,
} from '../../../../domain/delivery/releases/matrix/matrix-rules.ts';
import type { RunStatus } from '../../../../domain/delivery/flows/run-status-rules.ts';

const never: DeploymentFact = {
  isDeployed: false,
  deployedAt: null,
  reason: 'never',
  packages: ['a'],
  hasOtherContent: false,
};
const deployed: DeploymentFact = {
  isDeployed: true,
  deployedAt: '2026-03-02T10:00:00.000Z',
  reason: null,
  packages: [],
  hasOtherContent: false,
};
const facts = { fact: never, isRunning: false, isTaken: true, isHeld: false, run: undefined };

test.each([
  ['never', {}],
  ['not_taken', { isTaken: false }],
  ['deployed', { fact: deployed, isRunning: true }],
  ['installed_before', { fact: deployed }],
  ['deployed', { fact: deployed, isRunning: true, isTaken: false }],
  ['partial', { fact: { ...never, reason: 'partial' as const }, isTaken: false }],
  ['failed', { fact: { ...never, reason: 'failed' as const }, isRunning: true }],
  ['rolled_back', { fact: { ...never, reason: 'rolled_back' as const } }],
  ['other_content', { fact: { ...never, reason: 'other_content' as const } }],
  ['waiting_approval', { fact: deployed, isRunning: true, run: 'waiting_approval' as const }],
  ['waiting_window', { run: 'waiting_window' as const }],
  ['waiting_lock', { run: 'waiting_lock' as const }],
  ['running', { run: 'running' as const }],
  ['held', { run: 'waiting_hold' as const }],
  ['held', { isHeld: true }],
  ['held', { isHeld: true, fact: { ...never, reason: 'failed' as const } }],
  ['held', { isHeld: true, run: 'waiting_approval' as const }],
  ['held', { isHeld: true, fact: deployed, isRunning: true, run: 'waiting_lock' as const }],
  ['running', { isHeld: true, run: 'running' as const }],
  ['deployed', { isHeld: true, fact: deployed, isRunning: true }],
  ['installed_before', { isHeld: true, fact: deployed }],
  ['not_taken', { isHeld: true, isTaken: false }],
  ['running', { run: 'waiting_org_calls' as const }],
  ['never', { run: 'dispatched' as const }],
  ['deployed', { fact: deployed, isRunning: true, run: 'scheduled' as const }],
  ['held', { isHeld: true, fact: deployed, isRunning: true, run: 'queued' as const }],
])('a cell is %s', (state, more) => {
  expect(cellState({ ...facts, ...more })).toBe(state);
});

test('of several runs the one that is furthest counts, and of those the oldest', () => {
  const run = (status: RunStatus, createdAt: string) => ({ status, createdAt });
  const runs = [
    run('waiting_approval', '2026-03-01'),
    run('waiting_lock', '2026-03-03'),
    run('waiting_lock', '2026-03-02'),
  ];
  expect(furthestRun(runs)).toEqual(runs[2]);
  expect(furthestRun([...runs, run('running', '2026-03-04')])?.status).toBe('running');
  const begun = [run('dispatched', '2026-03-01'), run('waiting_approval', '2026-03-02')];
  expect(furthestRun(begun)).toEqual(begun[1]);
  expect(furthestRun([])).toBeUndefined();
});

const content = { contentDigest: 'now', artifacts: { a: '1', b: '1' } };
const at = (hour: number): number => Date.UTC(2026, 2, 2, hour);
const report = (id: string, hour: number, more: Partial<CellReport> = {}): CellReport => ({
  id,
  candidateId: 'c',
  contentDigest: 'now',
  status: 'Success',
  deployedAt: at(hour),
  receivedAt: at(hour),
  isRolledBack: false,
  installed: { a: '1', b: '1' },
  executionId: `run-${id}`,
  by: `${id}@example.com`,
  rolledBackAt: null,
  rolledBackBy: null,
  ...more,
});

test('what was deployed is told of the report that completed it, not of a repetition', () => {
  const reports = [
    report('again', 12),
    report('first', 10, { installed: null }),
    report('part', 9, { status: 'Partial', installed: {} }),
  ];
  expect(storyOf(content, deployed, reports)).toEqual({
    since: '2026-03-02T10:00:00.000Z',
    by: 'first@example.com',
    executionId: 'run-first',
    version: '1',
  });
});

test('what was taken back is told of whoever took it back', () => {
  const fact: DeploymentFact = { ...never, reason: 'rolled_back' };
  const taken = report('taken', 10, { isRolledBack: true, rolledBackAt: at(11), rolledBackBy: 'dana@example.com' });
  expect(storyOf(content, fact, [taken])).toMatchObject({ since: '2026-03-02T11:00:00.000Z', by: 'dana@example.com' });
});

test('what failed is told of the failure, and other content of what was installed last', () => {
  const failed = report('failed', 11, { status: 'Failed', installed: {} });
  const cancelled = report('cancelled', 12, { status: 'Cancelled', installed: {} });
  const other = report('other', 9, { contentDigest: 'then', installed: { a: '1', b: '2' } });
  expect(storyOf(content, { ...never, reason: 'failed' }, [failed, cancelled, other])).toEqual({
    since: '2026-03-02T11:00:00.000Z',
    by: 'failed@example.com',
    executionId: 'run-failed',
    version: undefined,
  });
  expect(storyOf(content, { ...never, reason: 'other_content' }, [cancelled, other])).toMatchObject({
    by: 'other@example.com',
    version: undefined,
  });
  expect(storyOf(content, never, [])).toMatchObject({ since: null, by: null, executionId: null });
});
