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

/** A recording of Chrome DevTools that is played in a browser at the org of the environment, as a run of its own. */
interface BrowserCheck extends OfRun {
  type: 'browser-check';
  /** The file of the recording, in the repository at the commit of the release. */
  path?: string | undefined;
  recording?: Record<string, unknown> | undefined;
  /** The origin at which it was made: its addresses there are those of the org. */
  recordedAt?: string | undefined;
}

export type VerificationCheck = ApexTestsCheck | CommandCheck | MetricCheck | RehearsalCheck | BrowserCheck;

/** How deployments to an environment are verified. */
export interface VerificationPolicy {
  checks: VerificationCheck[];
  onFailure: FailureReaction;
}

/** Why an environment cannot be verified so; undefined: it can be. */
export function problemOfVerification({
  verification,
  orgUsername,
}: {
  verification?: VerificationPolicy | null | undefined;
  orgUsername?: string | null | undefined;
}): { field: string; detail: string } | undefined {
  const at = verification?.checks.findIndex(({ type }) => type === 'browser-check') ?? -1;
  if (at < 0 || orgUsername) return undefined;
  const detail = 'browser-check needs an org, at which its browser begins: the environment has no `orgUsername`';
  return { field: `verification/checks/${at}/type`, detail };
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
    case 'browser-check':
      return `Browser check ${check.path ?? titleOf(check.recording)}`.slice(0, 200).toWellFormed();
    case 'metric':
      return `Metric ${check.query}`.slice(0, 200).toWellFormed();
    case 'rehearsal':
      return `Calls ${check.method ?? '*'} ${check.path} of ${check.scenario}`.slice(0, 200).toWellFormed();
  }
}

const titleOf = (recording: Record<string, unknown> = {}): string =>
  typeof recording.title === 'string' ? recording.title : '';
