/** How a run ends that no longer holds the lock of its environment. */
export const LOCK_LOST = {
  status: 'failed',
  code: 'lock_lost',
  error: 'The lock of the environment was lost while the run held it (lock_lost)',
} as const;

/** A program of a run that holds locks ends when its process could not see for so long that they are held. */
export const PROGRAM_LEASE_MS = 15_000;
export const PROGRAM_LEASE_CHECK_MS = 3_000;
/** After this, the program of a lost worker has ended, wherever it ran: the lease, the time to end, and some spare. */
export const PROGRAM_GONE_MS = PROGRAM_LEASE_MS + 7_000;
