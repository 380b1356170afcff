import {
  decideEvent,
  type DeploymentStatus,
  type EventFacts,
  type LatestDeployment,
} from '../../../domain/release-candidates/finalization-rules.ts';

const environment = (name: string, more: Partial<EventFacts['environments'][number]> = {}) => ({
  id: name,
  name,
  category: 'release',
  isActive: true,
  branch: '**',
  ...more,
});
const deployed = (
  environmentId: string,
  status: DeploymentStatus = 'Success',
  isRolledBack = false,
): LatestDeployment => ({ environmentId, status, isRolledBack });
const facts = (more: Partial<EventFacts> = {}): EventFacts => ({
  candidateStatus: 'pending',
  branch: 'main',
  deploymentStatus: 'Success',
  isAutoFinalizing: true,
  environments: [environment('uat'), environment('prod')],
  latestDeployments: [deployed('uat')],
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
    { latestDeployments: [deployed('uat'), deployed('prod')] },
    { updated: true, newStatus: 'finalized', finalizationPending: false, missingEnvironments: [] },
  ],
  [
    'not without the setting',
    { isAutoFinalizing: false, latestDeployments: [deployed('uat'), deployed('prod')] },
    { newStatus: 'in_progress', finalizationPending: false },
  ],
  [
    'a failure moves nothing',
    { deploymentStatus: 'Failed' },
    { updated: false, newStatus: 'pending', finalizationPending: false },
  ],
  [
    'a partial one moves nothing',
    { deploymentStatus: 'Partial', latestDeployments: [deployed('uat'), deployed('prod')] },
    { updated: false, newStatus: 'pending' },
  ],
  ['a cancelled one moves nothing', { deploymentStatus: 'Cancelled' }, { updated: false, newStatus: 'pending' }],
  [
    'a failed environment is missing',
    { latestDeployments: [deployed('uat'), deployed('prod', 'Failed')] },
    { newStatus: 'in_progress', missingEnvironments: ['prod'] },
  ],
  [
    'a rolled-back one is missing',
    { latestDeployments: [deployed('uat'), deployed('prod', 'Success', true)] },
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
    { candidateStatus: 'aborted', latestDeployments: [deployed('uat'), deployed('prod')] },
    { updated: false, newStatus: 'aborted', finalizationPending: false },
  ],
  ['finalized stays', { candidateStatus: 'finalized' }, { updated: false, newStatus: 'finalized' }],
  [
    'a status of the project waits for finalization',
    { candidateStatus: 'on_hold' },
    { updated: false, newStatus: 'on_hold', finalizationPending: true },
  ],
  [
    'a status of the project is finalized, too',
    { candidateStatus: 'on_hold', latestDeployments: [deployed('uat'), deployed('prod')] },
    { newStatus: 'finalized' },
  ],
])('%s', (_, more, expected) => {
  expect(decideEvent(facts(more))).toMatchObject(expected);
});
