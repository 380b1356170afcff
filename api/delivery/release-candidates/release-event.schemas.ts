import { z } from 'zod';
import {
  DEPLOYMENT_STATUSES,
  type DeploymentStatus,
} from '../../../domain/delivery/release-candidates/finalization-rules.ts';
import { oneOf } from '../../../domain/kernel/shared/input-errors.ts';
import { PolicyViolations } from '../../projects/environments/policy-violations.schemas.ts';
import { MissingEnvironment } from '../deployment-facts.ts';
import { warningsOf } from '../../http/warnings.ts';
import { GivenObject, DateTime, Name } from '../../http/parameters.ts';
import { CandidateName, PackageVersions, ReleaseDefinition } from './release-candidates.schemas.ts';

const statusByWord = new Map(DEPLOYMENT_STATUSES.map((status) => [status.toLowerCase(), status]));

const Status = z
  .string()
  .transform((word, context): DeploymentStatus => {
    const status = statusByWord.get(word.toLowerCase());
    if (status) return status;
    context.addIssue({ code: 'custom', message: oneOf(DEPLOYMENT_STATUSES, word) });
    return z.NEVER;
  })
  .meta({ override: { type: 'string', enum: [...DEPLOYMENT_STATUSES], description: 'Case-insensitive' } });

const IsoMoment = z.iso.datetime({ offset: true });

const PackageDetail = z.looseObject({
  name: Name,
  version: z.string().max(100).optional(),
  skipped: z.boolean().optional(),
  status: z.string().max(100).optional(),
  startTime: IsoMoment.optional(),
  endTime: IsoMoment.optional(),
});

export const ReleaseEventIn = z
  .strictObject({
    ...CandidateName.shape,
    environmentName: Name,
    deploymentStatus: Status.optional(),
    status: Status.optional().meta({ description: 'Alias of `deploymentStatus`' }),
    executionId: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'Pipeline run; reports with the same id are one event' }),
    deployedAt: DateTime.optional().meta({
      description:
        'Default: now. At most 10 minutes ahead: clocks differ. Of two reports the later one counts, in whatever order they come',
    }),
    packages: PackageVersions.optional().meta({
      description:
        "What was installed. Default with `Success`: the candidate's packages but those whose entry of `packageDetails` failed; with `Partial`: those whose entry has the status `Success`, `Succeeded`, `Installed` or `Deployed`, or `skipped: true` and a version, and no error",
    }),
    packageDetails: z.array(PackageDetail).max(5_000).optional(),
    releaseDefinition: ReleaseDefinition.optional(),
    metadata: GivenObject.optional(),
    approval: GivenObject.optional(),
  })
  .transform(({ deploymentStatus, status, ...event }, context) => {
    const known = deploymentStatus ?? status;
    if (known !== undefined) return { ...event, deploymentStatus: known };
    context.addIssue({
      code: 'custom',
      path: ['deploymentStatus'],
      message: `is required: one of ${DEPLOYMENT_STATUSES.join(', ')}`,
    });
    return z.NEVER;
  });

export const ReleaseEventOut = z
  .object({
    updated: z.boolean(),
    newStatus: z.string().nullable(),
    previousStatus: z.string().nullable(),
    intermediateCandidatesFinalized: z.boolean(),
    finalizationPending: z.boolean(),
    missingEnvironments: z
      .array(z.string())
      .meta({ description: 'Names of the release environments to which the candidate has not been deployed' }),
    missing: z.array(MissingEnvironment).default([]),
    policyViolations: PolicyViolations,
    ...warningsOf('policy_violation'),
    message: z.string(),
  })
  .meta({ id: 'ReleaseEventResult' });
