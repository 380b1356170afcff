import { z } from 'zod';
import { ApprovalPolicySchema } from '../../../domain/projects/policies/approval-policy.ts';
import { DeploySettingsSchema } from '../../../domain/projects/policies/deploy-settings.ts';
import { PromotionPolicySchema } from '../../../domain/projects/policies/promotion-policy.ts';
import { VerificationPolicySchema } from '../../../domain/projects/policies/verification-policy.ts';
import { ENVIRONMENT_CATEGORIES } from '../../../domain/projects/environments/environments.entities.ts';
import { RunningViolations } from './policy-violations.schemas.ts';
import {
  AllowedHosts,
  CurrentVersion,
  FreeText,
  GivenObject,
  JsonObject,
  Name,
  RepositoryIdentifier,
  Timestamp,
} from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';

export const ApprovalPolicy = ApprovalPolicySchema.meta({ id: 'ApprovalPolicy' });

export const PromotionPolicy = PromotionPolicySchema.meta({ id: 'PromotionPolicy' });

const VerificationPolicy = VerificationPolicySchema.meta({ id: 'VerificationPolicy' });
const DeploySettings = DeploySettingsSchema.meta({ id: 'DeploySettings' });

const BrowserSettings = z
  .strictObject({
    allowedHosts: AllowedHosts.optional(),
    recording: z.boolean().optional().meta({
      description: 'Whether sessions are recorded that do not say so themselves; default: true',
    }),
  })
  .meta({ id: 'BrowserSettings' });

const fields = {
  name: Name,
  description: FreeText,
  category: z.enum(ENVIRONMENT_CATEGORIES),
  orgUsername: Name.nullable().meta({
    description:
      'Username of the org, or the name of a sandbox, which becomes the username as soon as the sandbox is registered',
  }),
  devHubUsername: Name.nullable(),
  branch: Name.meta({
    description:
      'Pattern of the branches that are deployed here: `*` matches within a path segment, `**` across segments',
  }),
  orchestrationOrder: z.int().min(0).max(10_000),
  isActive: z.boolean(),
  tags: z.array(Name).max(50),
  metadata: GivenObject,
  approvalPolicy: ApprovalPolicy.nullable(),
  promotion: PromotionPolicy.nullable().meta({
    description: 'What a release must meet before it is deployed here',
  }),
  browser: BrowserSettings.nullable().meta({ description: 'How browsers are allocated at the org' }),
  verification: VerificationPolicy.nullable().meta({
    description: 'How each deployment that succeeded here is verified; null: it is not',
  }),
  deploy: DeploySettings.nullable().meta({ description: 'How source is deployed to the org' }),
};

export const EnvironmentIn = z
  .strictObject({ ...fields, repositoryIdentifier: RepositoryIdentifier })
  .partial()
  .required({ repositoryIdentifier: true, name: true, category: true });

export const EnvironmentPatch = z
  .strictObject({
    ...fields,
    version: CurrentVersion,
  })
  .partial();

const LockStatus = z
  .object({
    isLocked: z.boolean(),
    ticketId: z.uuid().nullable(),
    heldBy: z.string().nullable(),
    executionId: z.string().nullable(),
    reason: z.string().nullable(),
    heldAt: Timestamp.nullable(),
    expiresAt: Timestamp.nullable(),
    waiting: z.int().meta({ description: 'Number of tickets waiting for the lock' }),
  })
  .meta({ id: 'LockStatus' });

const shown = z.object({
  id: z.uuid(),
  repositoryIdentifier: z.string(),
  ...fields,
  orgUsername: z.string().nullable().default(null),
  devHubUsername: z.string().nullable().default(null),
  metadata: JsonObject,
  approvalPolicy: ApprovalPolicy.nullable().default(null),
  promotion: PromotionPolicy.nullable().default(null),
  browser: BrowserSettings.nullable().default(null),
  verification: VerificationPolicy.nullable().default(null),
  deploy: DeploySettings.nullable().default(null),
  lockStatus: LockStatus,
  policyViolations: RunningViolations,
  version: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const Environment = shown.meta({ id: 'Environment' });

export const EnvironmentWithWarnings = shown
  .extend(warningsOf('unknown_approver', 'too_few_approvers'))
  .meta({ id: 'EnvironmentWithWarnings' });
