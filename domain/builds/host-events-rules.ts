import type { BuildState } from './build-state-rules.ts';

/** A commit that a branch was moved to. */
export interface PushEvent {
  kind: 'push';
  branch: string;
  commitId: string;
  message: string | null;
  author: string | null;
  /** ISO 8601. */
  date: string | null;
}

/** What a host says of one build of a commit. */
export interface StatusEvent {
  kind: 'status';
  commitId: string;
  branch: string | null;
  /** What tells this build from others of the commit. */
  context: string;
  state: BuildState;
  /** ISO 8601; when the host says that it came to this. */
  at: string | null;
  buildUrl: string | null;
  buildNumber: string | null;
  isPr: boolean;
  prNumber: number | null;
  message: string | null;
  author: string | null;
  date: string | null;
}

export type HostEvent = PushEvent | StatusEvent;

/** What a host's hook says, in the words of this service. */
export interface HookContent {
  /** Null: the host does not name it in this kind of hook. */
  repositoryIdentifier: string | null;
  /** Branches or tags were moved, made or removed. */
  isPush: boolean;
  events: HostEvent[];
  /** When the host made it, as far as it says; ISO 8601. */
  occurredAt: string | null;
}
