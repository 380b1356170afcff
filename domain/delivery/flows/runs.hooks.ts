import type { Tx } from '../../unit-of-work.ts';
import type { RunOutcome, RunSummary } from './flow-runs.mutations.ts';
import type { RunStatus } from './run-status-rules.ts';

/** A run of which other areas are told. */
export type ReachedRun = Pick<
  RunSummary,
  'id' | 'parentId' | 'projectId' | 'repositoryIdentifier' | 'taskType' | 'payload' | 'cicdRunUrl' | 'isScheduled'
>;

/** What a run has come to. */
export interface ReachedStatus extends Pick<RunOutcome, 'error' | 'result'> {
  status: RunStatus;
  /** When, as the database has it. */
  at: string;
  /** The run had ended otherwise: its outcome is that of its children's latest attempts. */
  isRevision?: boolean;
}

/** A type of run that is asked for, by itself or for a run. */
export interface OfferedType {
  id: string;
  /** Undefined: of the whole tenant. */
  projectId: string | undefined;
  /** The run that is asked for; undefined: any. */
  run?: { payload: Readonly<Record<string, unknown>>; environmentId: string | null } | undefined;
}

declare module '../../kernel/hooks.ts' {
  interface Hooks {
    /** A run was accepted, waits at a gate, began, ended, or has another end than before. */
    runReached: (tx: Tx, run: ReachedRun, reached: ReachedStatus) => Promise<void>;
    /**
     * A type of run that the service executes itself is asked for. Answers why it cannot be executed now; null: it can.
     */
    typeOffered: (tx: Tx, type: OfferedType) => Promise<string | null>;
  }
}
