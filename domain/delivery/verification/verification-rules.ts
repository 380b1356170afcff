/** What may become of the verification of a deployment. */
const VERIFICATION_MOVES = {
  pending: ['running', 'failed', 'superseded'],
  running: ['verified', 'failed', 'superseded'],
  verified: [],
  failed: [],
  superseded: [],
} as const satisfies Record<string, readonly string[]>;

/**
 * - `pending`: it has not begun.
 * - `superseded`: something else was deployed, or this was taken back, before it ended.
 */
export type VerificationState = keyof typeof VERIFICATION_MOVES;

/** What may become of one of its checks. */
const CHECK_MOVES = {
  pending: ['running', 'passed', 'failed', 'skipped'],
  running: ['passed', 'failed', 'skipped'],
  passed: [],
  failed: [],
  skipped: [],
} as const satisfies Record<string, readonly string[]>;

/** `skipped`: the verification ended before it. */
export type CheckState = keyof typeof CHECK_MOVES;
