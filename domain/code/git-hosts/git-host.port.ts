import type { Answer } from '../../kernel/outbound/answer.port.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import type { Remote } from '../git/mirror/git-mirrors.port.ts';

/** Why a request to a host failed. */
export interface HostFailure {
  isOk: false;
  /** A retry may succeed. */
  isTransient: boolean;
  /** The host may have done it nevertheless: only the response was lost. */
  mayBeDone: boolean;
  /** For people; contains no secret. */
  reason: string;
  /** The host limits how often it is asked, and said for how long. */
  retryAfterMs?: number;
  /** It did not answer in time. */
  isTimeout?: boolean;
}

/** The response of a host; a failure is a value. */
export type HostAnswer<Value> = Answer<Value, HostFailure>;

export interface PipelineOrder {
  repository: string;
  /** File name or id of the pipeline, as the host knows it. */
  pipeline: string;
  /** Branch or tag. */
  ref: string;
  inputs: Record<string, string>;
}

export interface DispatchedPipeline {
  /** Null when the host does not return it. */
  runId: string | null;
  url: string | null;
}

export type PipelineState = 'open' | 'succeeded' | 'failed' | 'cancelled';

/** A pipeline that was dispatched. */
export interface PipelineRun {
  repository: string;
  pipeline: string;
  runId: string;
}

/** A part of a pipeline that was dispatched, as its host tells of it: a job, or what a job or stage is made of. */
export interface PipelineJob {
  id: string;
  /** With what it is a part of: `build / compile`. */
  name: string;
  /** In the host's own words: `in_progress`, `success`. */
  state: string;
  hasEnded: boolean;
  /** What its log is asked for by; null: the host gives none now. */
  logId: string | null;
}

/** What of the log of a job is wanted. */
export interface WantedLog {
  logId: string;
  /** Bytes of it that are known. */
  from: number;
  /** Nothing is added to it any more; else a line that is not complete is left for the next time. */
  hasEnded: boolean;
}

export interface LogPart {
  /** False: the host has no such log now. */
  isThere: boolean;
  /** Without the credential by which the host was asked. */
  text: string;
  /** Where the next part begins. */
  next: number;
  /** Something before it was left out. */
  isCut: boolean;
  /** The log is larger than is read: no more of it comes. */
  isTooLarge?: boolean;
}

export interface CommitStatus {
  repository: string;
  commitId: string;
  /** Distinguishes this status from others of the commit. */
  context: string;
  state: 'pending' | 'success' | 'failure' | 'error';
  description: string;
  targetUrl?: string | undefined;
}

export interface LabelChange {
  repository: string;
  prNumber: number;
  add: string;
  remove: readonly string[];
}

/** A pull request between branches of a repository. */
export interface WantedPullRequest {
  repository: string;
  from: string;
  to: string;
  title: string;
  /** Markdown. */
  description: string;
}

export interface OpenPullRequest {
  number: number;
  /** For people. */
  url: string | null;
}

/** What runs use of a git host. Each call is bounded in time; writing statuses and labels again is safe. */
export interface GitHost {
  dispatchPipeline(order: PipelineOrder): Promise<HostAnswer<DispatchedPipeline>>;
  pipelineState(run: PipelineRun): Promise<HostAnswer<PipelineState>>;
  /** The parts of a pipeline run, in their order, 100 at most. */
  pipelineJobs(run: PipelineRun): Promise<HostAnswer<readonly PipelineJob[]>>;
  /** What is new in the log of one of them. */
  pipelineLog(run: PipelineRun, wanted: WantedLog): Promise<HostAnswer<LogPart>>;
  /** Requests the cancellation of a pipeline run; one that has ended is left as it is. */
  cancelPipeline(run: PipelineRun): Promise<HostAnswer<null>>;
  writeStatus(status: CommitStatus): Promise<HostAnswer<null>>;
  changeLabel(change: LabelChange): Promise<HostAnswer<null>>;
  /** Opens a pull request, or finds the open one of the same branches. */
  openPullRequest(wanted: WantedPullRequest): Promise<HostAnswer<OpenPullRequest>>;
}

export interface HostPlace extends TenantKey {
  projectId: string;
  platform: 'host-a' | 'host-b' | 'host-c';
  /** For readers of the audit trail: what the credential is used for. */
  purpose: string;
}

/** The host of a project with the tenant's credential for it; undefined without one. */
export type FindGitHost = (place: HostPlace) => Promise<GitHost | undefined>;

export interface BranchOrder {
  remote: Remote;
  branch: string;
  /** Tag, branch or commit at which the branch begins. */
  sourceRef: string;
}

export type CreatedBranch = { isOk: true; commitId: string } | { isOk: false; reason: string };

/** Creates a branch on a remote. One that exists at that commit counts as created; at another it is a failure. */
export type CreateBranch = (order: BranchOrder, signal: AbortSignal) => Promise<CreatedBranch>;

export interface MergeOrder {
  remote: Remote;
  from: string;
  to: string;
  /** Message of the commit by which they are merged. */
  message: string;
}

/**
 * - `merged`: the branch is at `commitId` now.
 * - `up_to_date`: it had everything already.
 * - `conflicts`: nothing was changed; `paths` are the first 100 of `total`.
 * - `refused`: the repository did not take it: the branch is protected, or has moved meanwhile.
 */
export type MergeResult =
  | { isOk: true; outcome: 'merged' | 'up_to_date'; commitId: string }
  | { isOk: true; outcome: 'conflicts'; paths: string[]; total: number }
  | { isOk: true; outcome: 'refused' }
  | { isOk: false; reason: string };

/** Merges a branch into another on a remote; repeated it changes nothing more. */
export type MergeBranches = (order: MergeOrder, signal: AbortSignal) => Promise<MergeResult>;
