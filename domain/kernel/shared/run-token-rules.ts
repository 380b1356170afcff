/** What the token of a run's command is for: reports of this run alone. */
export interface RunOfToken {
  runId: string;
  /** What the run is about; null where it names none. */
  repositoryIdentifier: string | null;
  domain: string | null;
  releaseName: string | null;
  /** The environment of the run, and those whose locks it holds. */
  environmentNames: readonly string[];
  /** The review pool that the run prepares orgs for. */
  poolId: string | null;
  /** The browser session that the run executes. */
  sessionId: string | null;
}

interface ReportedPlace {
  repositoryIdentifier: string;
  domain: string;
  releaseName: string;
  environmentName: string;
  executionId?: string | undefined;
}

/** Whether a release event is about the run's own deployment: its `executionId` is the id of the run. */
export const isOwnDeployment = (run: RunOfToken, event: ReportedPlace): boolean =>
  event.executionId === run.runId &&
  event.repositoryIdentifier === run.repositoryIdentifier &&
  event.domain === run.domain &&
  event.releaseName === run.releaseName &&
  run.environmentNames.includes(event.environmentName);
