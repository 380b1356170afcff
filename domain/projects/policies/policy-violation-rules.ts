/**
 * What a deployment that was reported broke. frozen, outside_window: when it was made; not_deployed_before, not_soaked,
 * not_verified: the release was not where it must be first, not for long enough, or not verified there; held: the release was held back from it; not_approved: nobody gave the approval that the
 * environment asks for.
 */
export const VIOLATION_CODES = [
  'frozen',
  'outside_window',
  'not_deployed_before',
  'not_soaked',
  'not_verified',
  'held',
  'not_approved',
] as const;

/** A demand of an environment that a deployment did not meet. */
export interface PolicyViolation {
  code: (typeof VIOLATION_CODES)[number];
  /** For people. */
  detail: string;
}
