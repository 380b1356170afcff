/** How a run ends that no longer holds the lock of its environment. */
export const LOCK_LOST = {
  status: 'failed',
  code: 'lock_lost',
  error: 'The lock of the environment was lost while the run held it (lock_lost)',
} as const;

/** Times by which a program of a run that holds locks ends when its process cannot see that they are held. */
export interface ProgramLeaseTimes {
  /** It ends when its process could not see that for so long. */
  leaseMs: number;
  checkMs: number;
  /** A program that was told to end has so long before it is killed. */
  graceMs: number;
  /** After this, the program of a lost worker has ended, wherever it ran: the lease, the time to end, and some spare. */
  goneMs: number;
}

/** @param pace multiplies them; 1 but for tests. */
export const programLeaseTimes = (pace: number): ProgramLeaseTimes => ({
  leaseMs: 15_000 * pace,
  checkMs: 3_000 * pace,
  graceMs: 5_000 * pace,
  goneMs: 22_000 * pace,
});
