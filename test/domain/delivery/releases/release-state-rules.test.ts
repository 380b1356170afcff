import type { DeploymentFact } from '../../../../domain/delivery/deployments/deployed-rules.ts';
import { deploymentState } from '../../../../domain/delivery/releases/release-state-rules.ts';

const fact = (reason: DeploymentFact['reason']): DeploymentFact => ({
  isDeployed: reason === null,
  deployedAt: reason === null ? '2026-01-01T00:00:00.000Z' : null,
  reason,
  packages: reason === null ? [] : ['app'],
  hasOtherContent: false,
});

interface Production {
  reason: DeploymentFact['reason'];
  running?: Record<string, string>;
  newer?: string;
}

/** What is recommended for a release of app 1.1 and lib 1.0 that production lacks. */
function recommended({ reason, running = {}, newer }: Production): string[] {
  const place = { environmentId: 'p', name: 'production', packages: running };
  const record = { environmentId: 'p', name: 'production', status: 'Success' as const };
  const facts = {
    records: [{ ...record, packages: {}, packageDetails: [], installed: {} }],
    states: [place],
    required: [place],
    artifacts: { app: '1.1', lib: '1.0' },
    factOf: () => fact(reason),
    newerIn: () => newer,
  };
  return deploymentState(facts, []).recommendations;
}

const older = { app: '1.0', lib: '1.0' };

test.each<[string, Production, string[]]>([
  ['runs what was before', { reason: 'never', running: older }, ['Deploy to production']],
  ['runs nothing', { reason: 'never' }, ['Deploy to production']],
  ['failed', { reason: 'failed', running: older }, ['Repeat the deployment to production, which failed']],
  [
    'runs one package in a newer version, one in an older',
    { reason: 'never', running: { app: '1.2', lib: '0.9' } },
    ['Deploy to production'],
  ],
  [
    'runs the same versions of other content',
    { reason: 'other_content', running: { app: '1.1', lib: '1.0' } },
    ['Deploy to production again: the content of the release changed'],
  ],
  ['runs newer versions', { reason: 'never', running: { app: '1.2', lib: '1.0' } }, []],
  ['failed, and runs newer versions', { reason: 'failed', running: { app: '1.2', lib: '1.0' } }, []],
  ['runs a newer release of the line', { reason: 'partial', running: { app: '1.1', lib: '1.0' }, newer: 'r3' }, []],
])('production that %s', (_, production, recommendations) => {
  expect(recommended(production)).toEqual(recommendations);
});
