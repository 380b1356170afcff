export const BUILD_STATES = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type BuildState = (typeof BUILD_STATES)[number];

/** One build of a commit, as the host reported it last. */
export interface BuildReport {
  state: BuildState;
  /** ISO 8601; null: the host did not say. */
  at: string | null;
  url: string | null;
}
/** By context, which distinguishes the builds of a commit. */
export type BuildReports = Readonly<Record<string, BuildReport>>;

/** The build of a commit that was reported last. */
export interface CiInfo {
  service: string;
  name: string;
  buildUrl: string | null;
  buildNumber: string | null;
  /** Distinguishes this build from others of the commit. */
  job: string;
  branch: string | null;
  isPr: boolean;
  prNumber: number | null;
}

/** How far a build is: of two reports of the same time the one that is further counts. */
const PROGRESS: Record<BuildState, number> = { pending: 0, running: 1, succeeded: 2, failed: 2, cancelled: 2 };

const hasEnded = (state: BuildState): boolean => PROGRESS[state] === 2;

/** Whether a report replaces the known one: hooks arrive in any order, so the host's own time decides. */
export function isNewer(report: BuildReport, known: BuildReport | undefined): boolean {
  if (!known) return true;
  const [a, b] = [report.at ?? '', known.at ?? ''];
  return a === b ? PROGRESS[report.state] > PROGRESS[known.state] : a > b;
}

/** The state of all builds of a commit together. */
export function overallState(reports: BuildReports): BuildState {
  const states = Object.values(reports).map(({ state }) => state);
  if (states.length === 0) return 'pending';
  if (!states.every(hasEnded)) return states.some((state) => state !== 'pending') ? 'running' : 'pending';
  if (states.includes('failed')) return 'failed';
  return states.includes('cancelled') ? 'cancelled' : 'succeeded';
}

/**
 * The event of a change of the overall state; undefined where subscribers are not told: a round of builds is announced
 * when it starts and when it ends.
 * @param before null: no build was reported.
 */
export function eventOfTransition(
  before: BuildState | null,
  after: BuildState,
): 'build.started' | 'build.completed' | 'build.failed' | undefined {
  if (before === after) return undefined;
  if (!hasEnded(after)) return before === null || hasEnded(before) ? 'build.started' : undefined;
  return after === 'succeeded' ? 'build.completed' : 'build.failed';
}

/** By these the author of a commit asks for no build. */
const SKIP = /\[(?:skip ci|ci skip|no ci|skip build)\]/i;

/** Why a push of a commit is not built; null when it is. */
export const skipReason = (message: string | null): string | null => {
  const marker = SKIP.exec(message ?? '')?.[0];
  return marker === undefined ? null : `The message of the commit says ${marker}`;
};

/** The hosts' names of the states of builds. */
const HOST_STATES: Readonly<Record<string, BuildState>> = {
  queued: 'pending',
  requested: 'pending',
  waiting: 'pending',
  pending: 'pending',
  created: 'pending',
  preparing: 'pending',
  waiting_for_resource: 'pending',
  scheduled: 'pending',
  manual: 'pending',
  notstarted: 'pending',
  in_progress: 'running',
  inprogress: 'running',
  running: 'running',
  canceling: 'running',
  success: 'succeeded',
  succeeded: 'succeeded',
  neutral: 'succeeded',
  skipped: 'succeeded',
  partiallysucceeded: 'failed',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  stopped: 'cancelled',
};

/** The state by a host's name of it; an unknown one is some kind of failure: `timed_out`, `action_required`, … */
export const buildStateOf = (hostState: string | null): BuildState =>
  HOST_STATES[(hostState ?? 'pending').toLowerCase()] ?? 'failed';
