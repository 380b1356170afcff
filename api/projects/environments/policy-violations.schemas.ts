import { z } from 'zod';
import { VIOLATION_CODES } from '../../../domain/projects/policies/policy-violation-rules.ts';

const violation = z.object({ code: z.enum(VIOLATION_CODES), detail: z.string() });

/** What of the policies of its environment a deployment broke. */
export const PolicyViolations = z.array(violation.meta({ id: 'PolicyViolation' })).meta({
  description:
    'What of the policies of its environment the deployment broke, as they were when it was reported. `frozen`, `outside_window`: when it was made; `not_deployed_before`, `not_soaked`, `not_verified`: the release was not where `promotion.after` demands it, not for `soakMinutes`, or not verified there, or an environment held it; `not_approved`: nobody gave the approval that the environment asks for',
});

/** What the deployments that brought what an environment runs broke of its policies. */
export const RunningViolations = z
  .array(violation.extend({ domain: z.string(), releaseName: z.string() }).meta({ id: 'RunningViolation' }))
  .meta({
    description:
      'What of the policies of the environment was broken by the deployments that brought what it runs now (of each package the last that installed it), as the policies were when each was reported, oldest first',
  });
