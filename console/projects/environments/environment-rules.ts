import type { ApprovalPolicy, CompareSidesResponses } from '@quayside/client';

type Comparison = Pick<CompareSidesResponses[200], 'comparison' | 'onlyRight'>;

export interface PackageDifference {
  name: string;
  /** Version on the right side; undefined: it is not installed there. */
  here: string | undefined;
  /** Version on the left side. */
  there: string | undefined;
}

/** The packages in which two sides differ, by name. */
export function differences({ comparison, onlyRight }: Comparison): PackageDifference[] {
  const changed = [...comparison.packagesToInstall, ...comparison.packagesToUpdate].map(({ name, versions }) => ({
    name,
    here: versions.from ?? undefined,
    there: versions.to,
  }));
  const only = onlyRight.map(({ name, version }) => ({ name, here: version, there: undefined }));
  return [...changed, ...only].toSorted((a, b) => a.name.localeCompare(b.name));
}

/**
 * The policy by which approvals are asked for: that of the environment, else that of its project, else nobody is asked.
 * Undefined: the environment sets none, and what its project sets is not known.
 */
export function approvalInForce(
  ofEnvironment: ApprovalPolicy | null,
  configuration: { approvalPolicy?: unknown } | undefined,
): { policy: ApprovalPolicy; isOfProject: boolean } | undefined {
  if (ofEnvironment) return { policy: ofEnvironment, isOfProject: false };
  if (!configuration) return undefined;
  const ofProject = configuration.approvalPolicy as ApprovalPolicy | null | undefined;
  return ofProject ? { policy: ofProject, isOfProject: true } : { policy: { skipApproval: true }, isOfProject: false };
}
