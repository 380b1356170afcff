import type { SyncStatus } from './explorer-rules.ts';

/** The newest syncs of an org, as far as replies depend on them. */
export interface SyncState {
  /** Requested or running. */
  open: { id: string; step: string | null; message: string | null } | undefined;
  /** The newest one that ended; `message` says why it failed. */
  ended: { status: Extract<SyncStatus, 'succeeded' | 'failed'>; message: string | null } | undefined;
}

export type ReadStatus = 'available' | 'pending' | 'error';

export interface ReadState {
  status: ReadStatus;
  jobId: string | null;
  message: string | null;
}

const OPEN_MESSAGE = 'The metadata of the org is being read';

/**
 * How a reply describes what is kept of an org: nothing and a sync under way is `pending`; after a failed sync it is
 * `error`, whatever older data there are.
 * @param isThere whether what was asked for is kept.
 */
export function readState({ open, ended }: SyncState, isThere: boolean): ReadState {
  const jobId = open?.id ?? null;
  if (!isThere && open) return { status: 'pending', jobId, message: open.message ?? open.step ?? OPEN_MESSAGE };
  if (ended?.status === 'failed') return { status: 'error', jobId, message: ended.message };
  return { status: isThere ? 'available' : 'pending', jobId, message: null };
}
