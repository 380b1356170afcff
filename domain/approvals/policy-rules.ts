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

/** A policy that an approval satisfies; null: nobody set one for an unknown target, so the owners approve. */
export interface PolicySource {
  policy: ApprovalPolicy | null;
  isForRelease: boolean;
}
