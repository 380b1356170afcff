import { z } from 'zod';
import {
  branch,
  byWhom,
  commitSha,
  defineEvents,
  domain,
  environmentName,
  flag,
  id,
  dateTime,
  packages,
  reason,
  releaseName,
  repositoryIdentifier,
  text,
} from './event-definition.ts';

const place = { repositoryIdentifier, domain, releaseName };
const candidateStatus = (description: string, example: string) => text(description, example);

const ReleaseCandidate = z.strictObject({
  id: id('Release candidate'),
  ...place,
  branch: branch.nullable().optional(),
  tag: text('Tag of the candidate', 'v2026.03-rc.1').nullable().optional(),
  commitSha: commitSha.nullable().optional(),
  status: candidateStatus('Status now: pending, in_progress, aborted, finalized, or one of the project', 'in_progress'),
  previousStatus: candidateStatus('Status before', 'pending').nullable().optional(),
  reason: reason.nullable().optional(),
  isIntermediate: flag('Finalized along with a newer candidate', false).optional(),
  supersededBy: text('Name of the newer release along with which it was finalized', '2026.04').nullable().optional(),
  changedBy: byWhom.nullable().optional(),
  packages: packages.optional(),
});

const Verification = z
  .strictObject({
    id: id('Verification'),
    state: text('Outcome: verified or failed', 'failed'),
    detail: text('Why it failed', 'Metric errors_total: 3 at 2026-11-03T10:15:00.000Z is above 0').nullable(),
    onFailure: text('What the environment asks for then: rollback, hold or notify', 'hold'),
    checks: z.array(
      z.strictObject({
        type: text('Type of the check', 'metric'),
        name: text('What it is about', 'Metric errors_total'),
        outcome: text('Outcome: passed, failed or skipped', 'failed'),
        detail: text('The same for people', '3 at 2026-11-03T10:15:00.000Z is above 0').nullable(),
      }),
    ),
    executionId: text('The run of the rollback that was started', 'run-48151').optional(),
    error: text('Why no rollback was started', 'There is nothing to roll back to').optional(),
  })
  .meta({
    description: 'What the checks of the environment said of the deployment',
    example: {
      id: '0198c5a0-7b3e-7000-8000-000000000001',
      state: 'verified',
      detail: null,
      onFailure: 'hold',
      checks: [{ type: 'command', name: 'Command smoke', outcome: 'passed', detail: 'The run ended as Completed' }],
    },
  });

const Deployment = z.strictObject({
  id: id('Deployment record').optional(),
  candidateId: id('Release candidate').nullable().optional(),
  ...place,
  environmentName,
  status: text('Outcome: Running, Success, Failed, Partial or Cancelled', 'Success'),
  startedAt: dateTime('When it began').nullable().optional(),
  deployedAt: dateTime('When it ended').nullable().optional(),
  executionId: text('Run of the pipeline that deployed', 'run-48151').nullable().optional(),
  packages: packages.optional(),
  deployedBy: byWhom.nullable().optional(),
  policyViolations: z
    .array(
      z.strictObject({
        code: text('What was broken', 'frozen'),
        detail: text('The same for people', 'production is frozen'),
      }),
    )
    .meta({
      description: 'What of the policies of its environment the deployment broke; absent: nothing',
      example: [{ code: 'frozen', detail: 'production is frozen until 2026-12-01T06:00:00.000Z: quarter end' }],
    })
    .optional(),
  verification: Verification.optional(),
});

const Release = z.strictObject({
  ...place,
  candidateId: id('Release candidate').nullable().optional(),
  branch: branch.nullable().optional(),
  commitSha: commitSha.nullable().optional(),
  environmentName: environmentName.nullable().optional(),
  reason: reason.nullable().optional(),
  packages: packages.optional(),
  by: byWhom.nullable().optional(),
});

const Held = z.strictObject({
  ...place,
  candidateId: id('Release candidate'),
  branch: branch.nullable().optional(),
  commitSha: commitSha.nullable().optional(),
  source: text('What holds it: person, from all environments, or verification, from those after its own', 'person'),
  environmentName: text('Where a verification failed; null for the hold of a person', 'uat').nullable(),
  reason: text('Why it is held', 'Waiting for the fix of the price list'),
  until: dateTime('When the hold is over; null: when it is lifted').nullable(),
  end: text(
    'Of one that ended: lifted, expired (its time was over), verified (a verification succeeded) or final (the candidate was aborted or finalized)',
    'lifted',
  ).optional(),
  by: byWhom,
});

export const releaseEvents = {
  ...defineEvents(ReleaseCandidate, {
    'release_candidate.created': 'A release candidate was created',
    'release_candidate.status_changed': 'The status of a release candidate changed',
    'release_candidate.aborted': 'A release candidate was aborted',
    'release_candidate.finalized':
      'A release candidate was finalized: it was deployed to every release environment, finalized along with a newer one (`isIntermediate`), or finalized manually',
  }),
  ...defineEvents(Deployment, {
    'deployment.started': 'A deployment to an environment began',
    'deployment.completed': 'A deployment to an environment succeeded',
    'deployment.failed': 'A deployment to an environment failed, was partial or was cancelled',
    'deployment.verified': 'A deployment passed all checks by which its environment verifies deployments',
    'deployment.verification_failed': 'A deployment did not pass a check by which its environment verifies deployments',
  }),
  ...defineEvents(Held, {
    'release.held': 'A release candidate is held: no run takes it on until that is lifted',
    'release.hold_lifted': 'The hold of a release candidate ended',
  }),
  ...defineEvents(Release, {
    'release.created': 'A release was deployed to an environment for the first time',
    'release.published':
      'A release was published: its candidate was finalized, and is deployed in at least one release environment',
    'release.rolled_back': 'A release was rolled back in an environment',
  }),
};
