import type { CrmAnswer } from './crm-platform.port.ts';

export const TEST_RUN_LEVELS = ['RunSpecifiedTests', 'RunLocalTests', 'RunAllTestsInOrg'] as const;

/** Which Apex tests an org is to run. */
export interface TestRunOrder {
  testLevel: (typeof TEST_RUN_LEVELS)[number];
  /** For `RunSpecifiedTests`. */
  classNames: readonly string[];
  /** Names of test suites, for `RunSpecifiedTests`. */
  suiteNames: readonly string[];
  /** These methods alone, whatever else is named. */
  methods?: readonly { className: string; methods: readonly string[] }[] | undefined;
  /** Ends after so many failures; null: runs all. */
  maxFailedTests: number | null;
}

/** Apex tests by the Tooling interface; how far they are and what came of them is queried. */
export interface CrmApexTests {
  /** The id of the job, by which `ApexTestRunResult` and `ApexTestResult` are found. */
  startTests: (order: TestRunOrder) => Promise<CrmAnswer<{ jobId: string }>>;
}
