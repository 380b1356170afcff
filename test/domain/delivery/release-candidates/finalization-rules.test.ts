import type { MissingReason } from '../../../../domain/delivery/deployments/deployed-rules.ts';
import { decideEvent, type EventFacts } from '../../../../domain/delivery/release-candidates/finalization-rules.ts';

const environment = (name: string, more: Partial<EventFacts['environments'][number]> = {}) => ({
  id: name,
  name,
  category: 'release',
  isActive: true,
  branch: '**',
  ...more,
});
/** Deployed to all environments but those named. */
const deployedBut =
  (missing: Record<string, MissingReason>): EventFacts['factOf'] =>
  (environmentId) => {
    const reason = missing[environmentId] ?? null;
    const isDeployed = reason === null;
    return {
      isDeployed,
      deployedAt: isDeployed ? '2026-11-22T10:00:00.000Z' : null,
      reason,
      packages: isDeployed ? [] : ['app'],
      hasOtherContent: false,
    };
  };
const facts = (more: Partial<EventFacts> = {}): EventFacts => ({
  candidateStatus: 'pending',
  branch: 'main',
  deploymentStatus: 'Success',
  isAutoFinalizing: true,
  environments: [environment('uat'), environment('prod')],
  isOtherContent: false,
  factOf: deployedBut({ prod: 'never', dev: 'never', hot: 'never' }),
  ...more,
});

test.each<[string, Partial<EventFacts>, object]>([
  [
    'the first success starts it',
    {},
    { updated: true, newStatus: 'in_progress', finalizationPending: true, missingEnvironments: ['prod'] },
  ],
  [
    'a later success leaves it',
    { candidateStatus: 'in_progress' },
    { updated: false, newStatus: 'in_progress', finalizationPending: true },
  ],
  [
    'deployed everywhere, it is final',
    { factOf: deployedBut({}) },
    { updated: true, newStatus: 'finalized', finalizationPending: false, missingEnvironments: [] },
  ],
  [
    'not without the setting',
    { isAutoFinalizing: false, factOf: deployedBut({}) },
    { newStatus: 'in_progress', finalizationPending: false },
  ],
  [
    'a failure moves nothing',
    { deploymentStatus: 'Failed' },
    { updated: false, newStatus: 'pending', finalizationPending: false },
  ],
  [
    'a partial one moves nothing',
    { deploymentStatus: 'Partial', factOf: deployedBut({}) },
    { updated: false, newStatus: 'pending' },
  ],
  ['a cancelled one moves nothing', { deploymentStatus: 'Cancelled' }, { updated: false, newStatus: 'pending' }],
  [
    'a failed environment is missing',
    { factOf: deployedBut({ prod: 'failed' }) },
    {
      newStatus: 'in_progress',
      missingEnvironments: ['prod'],
      missing: [{ environment: 'prod', reason: 'failed', packages: ['app'] }],
    },
  ],
  [
    'a rolled-back one is missing',
    { factOf: deployedBut({ prod: 'rolled_back' }) },
    { newStatus: 'in_progress', missingEnvironments: ['prod'] },
  ],
  [
    'an inactive one is not needed',
    { environments: [environment('uat'), environment('prod', { isActive: false })] },
    { newStatus: 'finalized' },
  ],
  [
    'another category is not needed',
    { environments: [environment('uat'), environment('dev', { category: 'dev' })] },
    { newStatus: 'finalized' },
  ],
  [
    'an environment of other branches is not needed',
    { environments: [environment('uat'), environment('hot', { branch: 'hotfix/*' })] },
    { newStatus: 'finalized' },
  ],
  [
    'no environment never finalizes',
    { environments: [] },
    { newStatus: 'in_progress', finalizationPending: true, missingEnvironments: [] },
  ],
  [
    'aborted stays',
    { candidateStatus: 'aborted', factOf: deployedBut({}) },
    { updated: false, newStatus: 'aborted', finalizationPending: false },
  ],
  [
    'other content than it has now moves nothing',
    { isOtherContent: true, factOf: deployedBut({}) },
    { updated: false, newStatus: 'pending', finalizationPending: false },
  ],
  ['finalized stays', { candidateStatus: 'finalized' }, { updated: false, newStatus: 'finalized' }],
  [
    'a status of the project waits for finalization',
    { candidateStatus: 'on_hold' },
    { updated: false, newStatus: 'on_hold', finalizationPending: true },
  ],
  [
    'a status of the project is finalized, too',
    { candidateStatus: 'on_hold', factOf: deployedBut({}) },
    { newStatus: 'finalized' },
  ],
])('%s', (_, more, expected) => {
  expect(decideEvent(facts(more))).toMatchObject(expected);
});
