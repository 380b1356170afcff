import { ApprovalSchema, ApprovalEventSchema } from './approvals/approvals.entities.ts';
import { ReleaseDeploymentSchema } from './deployments/deployments.entities.ts';
import { EnvironmentLockTicketSchema } from './environment-locks/environment-locks.entities.ts';
import {
  FlowCheckSchema,
  FlowRunSchema,
  FlowRunLockSchema,
  FlowRunTallySchema,
  FlowScheduleSchema,
  RunTokenSchema,
} from './flows/flows.entities.ts';
import { ApexClassCoverageSchema, ApexTestResultSchema, ApexTestRunSchema } from './apex-tests/apex-tests.entities.ts';
import { OrgSourceSchema } from './org-deployments/org-sources.entities.ts';
import { OrgTurnSchema } from './org-steps/org-turns.entities.ts';
import { OrgStepSchema } from './org-steps/org-steps.entities.ts';
import { PrivilegeGrantSchema } from './org-people/privilege-grants.entities.ts';
import {
  ReleaseCandidateSchema,
  ReleaseCandidateCountSchema,
  ReleaseCandidateEventSchema,
} from './release-candidates/release-candidates.entities.ts';
import { PackageVersionSchema } from './releases/releases.entities.ts';
import { VerificationCheckSchema, VerificationSchema } from './verification/verifications.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  ApprovalSchema,
  ApprovalEventSchema,
  ReleaseDeploymentSchema,
  EnvironmentLockTicketSchema,
  FlowCheckSchema,
  FlowRunSchema,
  FlowRunLockSchema,
  FlowRunTallySchema,
  FlowScheduleSchema,
  RunTokenSchema,
  PrivilegeGrantSchema,
  OrgStepSchema,
  OrgTurnSchema,
  OrgSourceSchema,
  ApexTestRunSchema,
  ApexTestResultSchema,
  ApexClassCoverageSchema,
  ReleaseCandidateSchema,
  ReleaseCandidateCountSchema,
  ReleaseCandidateEventSchema,
  PackageVersionSchema,
  VerificationSchema,
  VerificationCheckSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
