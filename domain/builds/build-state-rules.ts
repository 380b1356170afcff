export const BUILD_STATES = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type BuildState = (typeof BUILD_STATES)[number];

/** One build of a commit, as the host told of it last. */
export interface BuildContext {
  state: BuildState;
  /** ISO 8601; null: the host did not say. */
  at: string | null;
  url: string | null;
}
export type BuildContexts = Readonly<Record<string, BuildContext>>;

/** How far along; at the same moment what is further counts. */
const PROGRESS: Record<BuildState, number> = { pending: 0, running: 1, succeeded: 2, failed: 2, cancelled: 2 };

const isOver = (state: BuildState): boolean => PROGRESS[state] === 2;

/** Whether what is told replaces what is known: hooks come in any order, so the host's own time decides. */
export function isNewer(told: BuildContext, known: BuildContext | undefined): boolean {
  if (!known) return true;
  const [a, b] = [told.at ?? '', known.at ?? ''];
  return a === b ? PROGRESS[told.state] > PROGRESS[known.state] : a > b;
}

/** What all builds of a commit come to together. */
export function overallState(contexts: BuildContexts): BuildState {
  const states = Object.values(contexts).map(({ state }) => state);
  if (states.length === 0) return 'pending';
  if (!states.every(isOver)) return states.some((state) => state !== 'pending') ? 'running' : 'pending';
  if (states.includes('failed')) return 'failed';
  return states.includes('cancelled') ? 'cancelled' : 'succeeded';
}

/** By which event subscribers learn that the builds of a commit moved; each round begins once. `before` is null when no build was told of. */
export function eventOfMove(
  before: BuildState | null,
  after: BuildState,
): 'build.started' | 'build.completed' | 'build.failed' | undefined {
  if (before === after) return undefined;
  if (!isOver(after)) return before === null || isOver(before) ? 'build.started' : undefined;
  return after === 'succeeded' ? 'build.completed' : 'build.failed';
}

/** Words by which the author of a commit asks for no build. */
const SKIP = /\[(?:skip ci|ci skip|no ci|skip build)\]/i;

/** Why a commit is not built by itself; null when it is. */
export const skipReason = (message: string | null): string | null => {
  const words = SKIP.exec(message ?? '')?.[0];
  return words === undefined ? null : `The message of the commit says ${words}`;
};
