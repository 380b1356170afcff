import { directionOf, type Direction, packageChanges } from '../changelogs/package-change-rules.ts';

/** What an environment's record of a release says when it is the result of a rollback. */
export interface Rollback {
  /** The release that was taken back. */
  rolledBackFrom: string;
  /** ISO 8601. */
  rolledBackAt: string;
  rolledBackBy: string;
  /** The record's changes are the rollback's, so they are not held against what was there before. */
  skipAnalysis: boolean;
  /** The way back: from the versions of the release that was taken back. */
  packageChanges: { name: string; from: string | null; to: string | null; direction: Direction }[];
}

type Packages = Readonly<Record<string, string>>;

/** The delta by which an environment comes from one release's packages back to another's. */
export const reverseDelta = (from: Packages, target: Packages): Rollback['packageChanges'] =>
  packageChanges(from, target, { withRemoved: true }).map((change) => ({ ...change, direction: directionOf(change) }));
