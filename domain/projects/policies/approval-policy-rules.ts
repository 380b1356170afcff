/** Who may approve a deployment to an environment, and how many of them are needed. */
export interface ApprovalPolicy {
  skipApproval?: boolean | undefined;
  /** E-mails and team slugs; none: the tenant's owners. */
  approvers?: string[] | undefined;
  minApprovals?: number | undefined;
  allowSelfApproval?: boolean | undefined;
  /** ISO 8601 duration. */
  expiresAfter?: string | undefined;
}

/** The policy of an environment for which nobody set one. */
const ASKS_NOBODY: ApprovalPolicy = { skipApproval: true };

/** The policies of an environment and of its project. */
export interface EnvironmentPolicies {
  approvalPolicy: ApprovalPolicy | null;
  /** `configuration.approvalPolicy` of its project. */
  projectPolicy: ApprovalPolicy | null;
}

/** An environment without a policy has that of its project; where neither has one, nobody is asked. */
export const policyOf = ({ approvalPolicy, projectPolicy }: EnvironmentPolicies): ApprovalPolicy =>
  approvalPolicy ?? projectPolicy ?? ASKS_NOBODY;

/** Whether what is deployed to an environment needs an approval. */
export const asksForApproval = (environment: EnvironmentPolicies): boolean =>
  policyOf(environment).skipApproval !== true;

/** A policy that an approval satisfies; null: nobody set one for an unknown target, so the owners approve. */
export interface PolicySource {
  policy: ApprovalPolicy | null;
  isForRelease: boolean;
}

/** Somebody who wants to decide. */
export interface Voter {
  id: string;
  email: string;
  isOwner: boolean;
  /** The tenant has no other owner. */
  isSoleOwner: boolean;
  /** Slugs of the teams to which they belong. */
  teams: readonly string[];
}
