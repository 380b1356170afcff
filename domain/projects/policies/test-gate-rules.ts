/** What runs of Apex tests must come to. A missing member means none. */
export interface TestGates {
  /** Percent of the lines of the org that its tests must cover. */
  minCoverage?: number;
  /** Percent of the lines that changed that its tests must cover. */
  minChangedCoverage?: number;
  /** What failed with what the org ran before may fail. */
  noNewFailures?: boolean;
  /** What was known to be flaky before may fail. */
  ignoreFlaky?: boolean;
}
