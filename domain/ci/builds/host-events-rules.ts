import type { PullRequestNews } from '../../code/pull-requests/pull-request-rules.ts';
import type { BuildState } from './build-state-rules.ts';
import { readHostA } from './host-a-events-rules.ts';
import { readHostB } from './host-b-events-rules.ts';
import { readHostC } from './host-c-events-rules.ts';
import type { WorkItemNews } from '../../work/work-item-requests/item-hooks-rules.ts';
import { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';

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

/** What a host reports of one build of a commit. */
export interface StatusEvent {
  kind: 'status';
  commitId: string;
  branch: string | null;
  /** Distinguishes this build from others of the commit. */
  context: string;
  state: BuildState;
  /** ISO 8601; when the build reached the state, by the host's clock. */
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

/** What a host's hook says, in the terms of this service. */
export interface HookContent {
  /** Null: the host does not name it in this kind of hook. */
  repositoryIdentifier: string | null;
  /** Branches or tags were moved, created or removed. */
  isPush: boolean;
  events: HostEvent[];
  pullRequest: PullRequestNews | null;
  /** Absent: the hook is not about one. */
  workItem?: WorkItemNews | null;
  /** When the host made it, as far as it says; ISO 8601. */
  occurredAt: string | null;
}

const READERS = { 'host-a': readHostA, 'host-b': readHostB, 'host-c': readHostC };

/**
 * Reads the body of a hook by what the host publishes of its hooks. Hooks about other things have no events.
 *
 * @param event the name of the event, where the host gives it in a header.
 */
export const readHook = (host: keyof typeof READERS, body: unknown, event: string): HookContent =>
  READERS[host](new UntrustedJson(body), event);
