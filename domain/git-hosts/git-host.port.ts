/** Why a host did not do what it was asked. */
export interface HostFailure {
  isOk: false;
  /** Another try may go well. */
  isTransient: boolean;
  /** It may have been done all the same: the answer is what failed. */
  mayBeDone: boolean;
  /** For people; holds no secret. */
  reason: string;
}

/** What a host answered; a failure is a value. */
export type HostAnswer<Value> = { isOk: true; value: Value } | HostFailure;

export interface PipelineOrder {
  repository: string;
  /** File name or id of the pipeline, as the host knows it. */
  pipeline: string;
  /** Branch or tag. */
  ref: string;
  inputs: Record<string, string>;
}

export interface DispatchedPipeline {
  /** Null when the host does not tell. */
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

export interface CommitStatus {
  repository: string;
  commitId: string;
  /** What tells this status from others of the commit. */
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

/** What runs ask of a git host. Each call is bounded in time; statuses and labels may be written twice. */
export interface GitHost {
  dispatchPipeline(order: PipelineOrder): Promise<HostAnswer<DispatchedPipeline>>;
  pipelineState(run: PipelineRun): Promise<HostAnswer<PipelineState>>;
  /** Asks a pipeline to end; one that has ended needs nothing. */
  cancelPipeline(run: PipelineRun): Promise<HostAnswer<null>>;
  writeStatus(status: CommitStatus): Promise<HostAnswer<null>>;
  changeLabel(change: LabelChange): Promise<HostAnswer<null>>;
}

export interface HostPlace {
  tenantId: string;
  projectId: string;
  platform: 'host-a' | 'host-b' | 'host-c';
  /** For a reader of the audit trail: what the credential is wanted for. */
  purpose: string;
}

/** The host of a project with the tenant's credential for it; undefined when none is kept. */
export type FindGitHost = (place: HostPlace) => Promise<GitHost | undefined>;
