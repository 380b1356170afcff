import type { DeploymentFact, MissingReason } from '../deployments/deployed-rules.ts';
import { matchesPattern } from '../../kernel/text/pattern-rules.ts';
import { type CandidateStatus, FINALIZED, isFinal, statusAfterSuccess } from './candidate-status-rules.ts';

export const DEPLOYMENT_STATUSES = ['Success', 'Failed', 'Partial', 'Cancelled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** Whether a deployment did all that it was to do. */
export const isSuccess = (status: DeploymentStatus): boolean => status === 'Success';

/** What of an environment decides which candidates are complete. */
export interface EnvironmentFacts {
  id: string;
  name: string;
  category: string;
  isActive: boolean;
  /** Pattern of the branches that are deployed there. */
  branch: string;
}

export interface EventFacts {
  candidateStatus: CandidateStatus;
  /** Branch of the candidate; one without a branch counts as on the default branch. */
  branch: string;
  deploymentStatus: DeploymentStatus;
  /** Project setting `autoReleaseFinalization`. */
  isAutoFinalizing: boolean;
  /** Other content was deployed than the candidate has now. */
  isOtherContent: boolean;
  environments: readonly EnvironmentFacts[];
  /** Whether the candidate is deployed to an environment, the event's report included. */
  factOf: (environmentId: string) => DeploymentFact;
}

/** An environment that a candidate still has to reach. */
export interface MissingEnvironment {
  environment: string;
  reason: MissingReason;
  /** Packages of the candidate that are not there. */
  packages: string[];
}

/** What an event makes of its candidate; the reply of `release-event` is made of it. */
export interface EventOutcome {
  updated: boolean;
  previousStatus: CandidateStatus;
  newStatus: CandidateStatus;
  intermediateCandidatesFinalized: boolean;
  finalizationPending: boolean;
  missingEnvironments: string[];
  missing: MissingEnvironment[];
  message: string;
}

/** Active environments of category `release` whose branch pattern matches the candidate's branch. */
export const requiredEnvironments = <E extends Pick<EnvironmentFacts, 'category' | 'isActive' | 'branch'>>(
  environments: readonly E[],
  branch: string,
): E[] =>
  environments.filter((each) => each.isActive && each.category === 'release' && matchesPattern(each.branch, branch));

/** The ones of some environments to which a candidate is not deployed, and why. */
export const missingFrom = (
  environments: readonly { id: string; name: string }[],
  factOf: (environmentId: string) => DeploymentFact,
): MissingEnvironment[] =>
  environments.flatMap(({ id, name }) => {
    const { reason, packages } = factOf(id);
    return reason === null ? [] : [{ environment: name, reason, packages }];
  });

/** Decides one event. Whether older candidates are finalized along is filled in by who finds them. */
export function decideEvent(facts: EventFacts): EventOutcome {
  const { candidateStatus, deploymentStatus, isAutoFinalizing } = facts;
  const required = requiredEnvironments(facts.environments, facts.branch);
  const missing = missingFrom(required, facts.factOf);
  const missingEnvironments = missing.map(({ environment }) => environment);
  const unchanged: EventOutcome = {
    updated: false,
    previousStatus: candidateStatus,
    newStatus: candidateStatus,
    intermediateCandidatesFinalized: false,
    finalizationPending: false,
    missingEnvironments,
    missing,
    message: '',
  };
  if (isFinal(candidateStatus)) {
    return { ...unchanged, message: `The deployment is recorded; the candidate is ${candidateStatus} and stays so` };
  }
  if (facts.isOtherContent) {
    return { ...unchanged, message: 'The deployment is recorded; the candidate has other content since' };
  }
  if (!isSuccess(deploymentStatus)) {
    return { ...unchanged, message: `The deployment is recorded; ${deploymentStatus} does not move a candidate on` };
  }
  if (isAutoFinalizing && required.length > 0 && missing.length === 0) {
    return moved(unchanged, FINALIZED, 'Deployed to all release environments: the candidate is finalized');
  }
  const outcome = moved(unchanged, statusAfterSuccess(candidateStatus), 'The deployment is recorded');
  if (!isAutoFinalizing) return outcome;
  const message =
    required.length === 0
      ? `The deployment is recorded; no active release environment takes the branch ${facts.branch}, so nothing finalizes the candidate`
      : `The deployment is recorded; not yet deployed to ${missingEnvironments.join(', ')}`;
  return { ...outcome, finalizationPending: true, message };
}

const moved = (outcome: EventOutcome, newStatus: CandidateStatus, message: string): EventOutcome => ({
  ...outcome,
  newStatus,
  updated: newStatus !== outcome.previousStatus,
  message,
});
