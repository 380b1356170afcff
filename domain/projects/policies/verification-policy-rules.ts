/** What happens once a deployment was not verified. */
export const FAILURE_REACTIONS = ['rollback', 'hold', 'notify'] as const;
export type FailureReaction = (typeof FAILURE_REACTIONS)[number];

/** How many checks an environment has at most. */
export const CHECKS_MAX = 5;

interface OfRun {
  /** How long its run may take, with what it waits for. */
  timeoutMinutes: number;
}

/** Apex tests in the org, as a run of their own. */
interface ApexTestsCheck extends OfRun {
  type: 'apex-tests';
  testLevel?: string | undefined;
  classNames?: string[] | undefined;
  suites?: string[] | undefined;
  minCoverage?: number | undefined;
}

/** The program or pipeline that executes `verify-deployment`. */
interface CommandCheck extends OfRun {
  type: 'command';
  /** What it is asked for: `check` of the run's payload. */
  name: string;
}

/** Values of metrics since the deployment, for so long. */
interface MetricCheck {
  type: 'metric';
  query: string;
  min?: number | undefined;
  max?: number | undefined;
  minutes: number;
}

export type VerificationCheck = ApexTestsCheck | CommandCheck | MetricCheck;

/** How deployments to an environment are verified. */
export interface VerificationPolicy {
  checks: VerificationCheck[];
  onFailure: FailureReaction;
}
