import { z } from 'zod';
import { MISSING_REASONS } from '../../domain/delivery/deployments/deployed-rules.ts';
import { CHECK_STATES, VERIFICATION_STATES } from '../../domain/delivery/verification/verification-rules.ts';
import { FAILURE_REACTIONS } from '../../domain/projects/policies/verification-policy-rules.ts';
import { Timestamp } from '../http/parameters.ts';

const Reason = z.enum(MISSING_REASONS).meta({
  description:
    '`never`, `other_content`: never deployed there, or only with another commit or other artifacts than it has now; `failed`, `rolled_back`: its last report there that is not `Cancelled` failed, or was rolled back; `partial`: packages are missing',
});
const packages = z
  .array(z.string())
  .meta({ description: 'Its packages that are not installed there with its present content' });

/** An environment to which a candidate is not deployed, and why. */
export const MissingEnvironment = z
  .object({ environment: z.string(), reason: Reason, packages })
  .meta({ id: 'MissingEnvironment' });

/** Whether a candidate is deployed to an environment. */
export const DeploymentFact = z
  .object({
    isDeployed: z.boolean().meta({
      description:
        'Each of its artifacts was installed there in its version with its present content, or runs there in that version by the report of another candidate; its last report that is not `Cancelled` did not fail, and nothing was rolled back since. A later release does not undo it',
    }),
    deployedAt: Timestamp.nullable().meta({ description: 'Since when; null if not deployed' }),
    reason: Reason.nullable().meta({ description: 'Null if deployed' }),
    packages,
  })
  .meta({ id: 'DeploymentFact' });

/** What the checks of its environment say of a deployment. */
export const DeploymentVerification = z
  .object({
    id: z.uuid(),
    state: z.enum(VERIFICATION_STATES).meta({
      description:
        '`superseded`: something else of the domain was deployed there, or the deployment was taken back, before the checks had ended',
    }),
    since: Timestamp.meta({ description: 'When it came to that state' }),
    detail: z.string().nullable().meta({ description: 'Why it ended so' }),
    onFailure: z.enum(FAILURE_REACTIONS),
    rollback: z
      .object({
        executionId: z.string().nullable().meta({ description: 'The run of the rollback' }),
        error: z.string().nullable().meta({ description: 'Why none was started' }),
      })
      .nullable(),
    checks: z.array(
      z.object({
        type: z.string(),
        name: z.string(),
        outcome: z.enum(CHECK_STATES).meta({ description: '`skipped`: the verification ended before it' }),
        detail: z.string().nullable(),
        executionId: z.string().nullable().meta({ description: 'The run that executes the check' }),
        browserSessionId: z.string().nullable().meta({
          description:
            'The browser session in which a recording was played: `GET /api/browser-sessions/{id}` has its replay',
        }),
      }),
    ),
  })
  .meta({ id: 'DeploymentVerification' });

/** As `DeploymentVerification`; null where the environment did not ask for it. */
export const VerificationOfDeployment = DeploymentVerification.nullable().meta({
  description: 'What the checks of the environment say of the last deployment; null: none were asked for',
});
