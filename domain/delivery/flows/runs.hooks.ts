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

declare module '../../kernel/hooks.ts' {
  interface Hooks {
    /** A run was accepted, waits at a gate, began, ended, or has another end than before. */
    runReached: (tx: Tx, run: ReachedRun, reached: ReachedStatus) => Promise<void>;
    /**
     * A type of run that the service executes itself is asked for. Answers why it cannot be executed now; null: it can.
     * @param projectId undefined: of the whole tenant.
     */
    typeOffered: (tx: Tx, type: { id: string; projectId: string | undefined }) => Promise<string | null>;
  }
}
