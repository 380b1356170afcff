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

/** The program of the operator that executes `verify-deployment`. */
interface CommandCheck extends OfRun {
  type: 'command';
  /** What it is asked for: `check` of the run's payload. */
  name: string;
}

/** Values of metrics since the deployment, for so long. */
export interface MetricCheck {
  type: 'metric';
  query: string;
  min?: number | undefined;
  max?: number | undefined;
  minutes: number;
}

/** Calls that what was deployed makes to a mock scenario. */
export interface RehearsalCheck {
  type: 'rehearsal';
  workspace: string;
  scenario: string;
  method?: string | undefined;
  path: string;
  atLeast: number;
  atMost?: number | undefined;
  minutes: number;
}

export type VerificationCheck = ApexTestsCheck | CommandCheck | MetricCheck | RehearsalCheck;

/** How deployments to an environment are verified. */
export interface VerificationPolicy {
  checks: VerificationCheck[];
  onFailure: FailureReaction;
}

/** What a check is about, for people: `Apex tests SmokeSuite`. A cut may part a character, which the database refuses. */
export function labelOfCheck(check: VerificationCheck): string {
  switch (check.type) {
    case 'apex-tests':
      return ['Apex tests', ...(check.suites ?? []), ...(check.classNames ?? [])]
        .join(' ')
        .slice(0, 200)
        .toWellFormed();
    case 'command':
      return `Command ${check.name}`;
    case 'metric':
      return `Metric ${check.query}`.slice(0, 200).toWellFormed();
    case 'rehearsal':
      return `Calls ${check.method ?? '*'} ${check.path} of ${check.scenario}`.slice(0, 200).toWellFormed();
  }
}
