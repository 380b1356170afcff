import { z } from 'zod';
import { MISSING_REASONS } from '../../domain/delivery/deployments/deployed-rules.ts';
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
