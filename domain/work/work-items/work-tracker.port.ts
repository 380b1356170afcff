import type { Answer } from '../../kernel/outbound/answer.port.ts';
import type { Actor } from '../../kernel/shared/actor.ts';

/** The systems that work items are kept in: Jira, GitHub issues, Azure Boards. */
export const TRACKER_PLATFORMS = ['tracker-a', 'host-a', 'host-b'] as const;
export type TrackerPlatform = (typeof TRACKER_PLATFORMS)[number];

/**
 * Why a call to a tracker failed.
 * - `auth_failed`: the credential is refused, or has not the right
 * - `limited`: a limit of the tracker is reached; no call leaves until `retryAt`
 * - `unreachable`: no connection, a broken one, or a failure on the tracker's side (5xx)
 * - `timeout`: no complete answer in time
 * - `refused`: the tracker, or our address policy, refuses this request; trying again gives the same
 * - `conflict`: the work item was changed while this change was made
 * - `not_found`: there is no such work item, or the credential does not see it
 * - `malformed`: an answer that is not what the interface promises, such as a sign-in page
 */
export type TrackerFailureKind =
  | 'auth_failed'
  | 'limited'
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'conflict'
  | 'not_found'
  | 'malformed';

export interface TrackerFailure {
  isOk: false;
  kind: TrackerFailureKind;
  /** For people: names the tracker by its platform; at most 400 characters, without secrets and addresses. */
  message: string;
  /** The tracker may have done it nevertheless: only the response was lost. */
  mayBeDone: boolean;
  /** When a call may leave again; only of `limited`. */
  retryAt: Date | null;
}

/** The result of a call; every failure of the tracker is a value. */
export type TrackerAnswer<Value> = Answer<Value, TrackerFailure>;

export interface WorkItemSummary {
  /** The tracker's own id: a number as text. */
  id: string;
  /** What people call it: `SHOP-12`, else the id. */
  key: string;
  title: string;
  type: string;
  /** The tracker's word. */
  status: string;
  priority: string | null;
  platform: TrackerPlatform;
  /** Its page. */
  url: string;
}

export interface WorkItemPerson {
  id: string;
  name: string;
  /** Null where the tracker hides it. */
  email: string | null;
}

export interface WorkItem extends WorkItemSummary {
  /** Plain text or Markdown, at most 100,000 characters. */
  description: string | null;
  assignee: (WorkItemPerson & { avatarUrl: string | null }) | null;
  reporter: WorkItemPerson | null;
  labels: string[];
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
  parent: { id: string; key: string; title: string | null } | null;
  /** What no other member shows, at most 100. */
  customFields: Record<string, unknown>;
  /** Whether its status belongs to the category of those that are done. */
  isClosed: boolean;
}

export interface WorkItemFilter {
  /** A status without regard to case; `open` and `closed` mean the category. */
  status?: string | undefined;
  /** A name, an e-mail address, or `me`: whom the credential belongs to. */
  assignee?: string | undefined;
  /** Without regard to case. */
  type?: string | undefined;
  /** 1 to 100. */
  maxResults: number;
}

export interface NewWorkItem {
  /** At most 255 characters. */
  title: string;
  /** What a person wrote, Markdown or plain text; at most 60,000 characters. The adapter makes it harmless for its format. */
  body: string;
  labels: readonly string[];
  /** Embedded where people need not see it, so that exactly one is found again: see `embedding-rules.ts`. */
  payload?: Record<string, unknown> | undefined;
}

export interface CreatedWorkItem {
  id: string;
  key: string;
  url: string;
  createdAt: string;
}

/** A missing member stays as it is. */
export interface WorkItemChange {
  title?: string | undefined;
  /** Replaces the description; Markdown or plain text. */
  body?: string | undefined;
  /** `open`, `closed`; other words only where the tracker has such a state (host-b). */
  state?: string | undefined;
  /** Replace those that there are. */
  labels?: readonly string[] | undefined;
  /** Replace those that there are: logins, on host-b at most one name or e-mail address. */
  assignees?: readonly string[] | undefined;
}

export interface WorkItemClosing {
  /** Written before the state is changed, or with it; not when it is closed already. */
  comment?: string | undefined;
  /** host-a: `completed`, `not_planned`; host-b: a state or a category of states, without regard to case. */
  reason?: string | undefined;
}

export interface ClosedWorkItem {
  /** It was not in that state before. */
  isChanged: boolean;
  /** Whether the tracker counts the state among those that are done: `Resolved` of host-b is not. */
  isClosed: boolean;
  /** ISO 8601; when the work item was changed last, by the tracker's clock. Null where it does not say so. */
  updatedAt: string | null;
}

export const REPORTED_STATES = ['waiting', 'running', 'done', 'failed'] as const;
export type ReportedState = (typeof REPORTED_STATES)[number];

/** What a work item is to show of a run. Writing it again is safe. */
export interface WorkItemReport {
  /** Finds the comment again, and is not shown in it: `[a-z0-9:-]{1,100}`, unique for the request. */
  marker: string;
  /** The comment: paragraphs of plain text, which the adapter makes harmless for its format. */
  lines: readonly string[];
  /** Shown below it. */
  links: readonly { text: string; url: string }[];
  /** Becomes the only label of `quayside:waiting|running|done|failed`. */
  state: ReportedState;
  /** The comment of an earlier report, where it is known; without it, or when it was deleted, the marker is looked for. */
  commentId?: string | undefined;
}

/** What the service uses of a tracker, in one location with one credential. Each call is bounded in time. */
export interface WorkTracker {
  /** @param id as people write it; one that cannot be an id of this tracker is `not_found` without a call. */
  fetch(id: string): Promise<TrackerAnswer<WorkItem>>;
  /** Newest change first. */
  list(filter: WorkItemFilter): Promise<TrackerAnswer<WorkItemSummary[]>>;
  /** Not safe to repeat: see `mayBeDone`. Labels that the credential may not set are dropped by host-a. */
  create(item: NewWorkItem): Promise<TrackerAnswer<CreatedWorkItem>>;
  /** The work item after the change. `conflict` where somebody else changed it meanwhile (host-b). */
  update(id: string, change: WorkItemChange): Promise<TrackerAnswer<WorkItem>>;
  /** One that is closed stays as it is. Repeating it after a failure writes no second comment. */
  close(id: string, closing: WorkItemClosing): Promise<TrackerAnswer<ClosedWorkItem>>;
  /** Writes or edits the comment, then sets the label. */
  report(id: string, report: WorkItemReport): Promise<TrackerAnswer<{ commentId: string }>>;
}

/** Where the work items of a project are; `trackerTarget` makes it of a project. */
export interface TrackerTarget {
  platform: TrackerPlatform;
  projectId: string;
  /** Identifier of the project's repository. */
  repositoryIdentifier: string;
  /** What `workItems` of the project's configuration says. */
  boards: readonly string[];
  /** Type of the work items that are created. */
  issueType: string;
  /** Address of the pages of work items, where the project's configuration has one. */
  pagesUrl: string | null;
}

export interface TrackerAccess {
  /** In whose name the credential is read; it is noted in the audit trail. */
  actor: Actor;
  requestId?: string | undefined;
  /** For readers of the audit trail: what the credential is used for. */
  purpose: string;
  /** The credential of a person, used instead of the integration's; only the address comes from the integration. */
  authToken?: string | undefined;
}

/**
 * The tracker of a project: with the credential of the integration of that kind, the project's before the tenant's.
 * Throws `invalid_request` without such an integration, and where it lacks what the tracker needs to know; a person's
 * token needs none, except that tracker-a has no address without one.
 */
export type FindWorkTracker = (target: TrackerTarget, access: TrackerAccess) => Promise<WorkTracker>;
