import type { CrmAnswer } from './crm-platform.port.ts';

/** Which Apex tests a deployment runs. `default`: as the platform decides, which is local tests where Apex goes to production. */
export type TestLevel =
  | 'default'
  | 'NoTestRun'
  | 'RunSpecifiedTests'
  | 'RunLocalTests'
  | 'RunAllTestsInOrg'
  | 'RunRelevantTests';

/** An archive in the layout of the Metadata interface, `package.xml` at its root. */
export interface DeployArchive {
  /** At most 39 MB and 10,000 files; 600 MB unpacked. */
  sizeBytes: number;
  /** Its bytes from the beginning; asked for again when a credential is renewed. */
  content: () => AsyncIterable<Uint8Array>;
}

export interface DeployOrder {
  archive: DeployArchive;
  /** Validates and changes nothing. */
  checkOnly: boolean;
  testLevel: TestLevel;
  /** Names of test classes, for `RunSpecifiedTests` only. */
  tests: readonly string[];
  /** Else a warning of the platform fails it. */
  ignoreWarnings: boolean;
}

/** What the platform says of a component that it did not take, or took with a warning. */
export interface ComponentProblem {
  /** `ApexClass`; empty where the platform names none: `package.xml`. */
  type: string;
  fullName: string;
  /** In the archive: `classes/A.cls`. */
  fileName: string;
  line: number | null;
  column: number | null;
  problem: string;
}

/** A method of a test that failed. */
export interface TestFailure {
  className: string;
  method: string | null;
  message: string;
  stackTrace: string | null;
}

export interface ClassCoverage {
  name: string;
  /** Lines that can be covered. */
  lines: number;
  uncovered: number;
}

/** Each list ends after `DETAILS_MAX`; counts are those of the platform. */
export interface DeploymentDetails {
  failures: ComponentProblem[];
  warnings: ComponentProblem[];
  changes: { created: number; changed: number; deleted: number; unchanged: number };
  testFailures: TestFailure[];
  testsRun: number;
  testsFailed: number;
  /** A class has too little coverage, or the org as a whole: the name is null then. */
  coverageWarnings: { name: string | null; message: string }[];
  coverage: ClassCoverage[];
}

/** What is kept of each list of a deployment. */
export const DETAILS_MAX = 2_000;

export interface Deployment {
  deploymentId: string;
  /** The platform's word, an open set: Pending, InProgress, FinalizingDeploy, Canceling, Succeeded, SucceededPartial, Failed, Canceled, … */
  status: string;
  /** Decides whether it is over, whatever the status says. */
  isDone: boolean;
  isSuccess: boolean;
  checkOnly: boolean;
  testsEnabled: boolean;
  /** What is under way: `Processing Type: ApexClass`. */
  stateDetail: string | null;
  components: { total: number; deployed: number; errors: number };
  tests: { total: number; completed: number; errors: number };
  /** Where it failed as a whole, which may be without a failure of a component. */
  error: { code: string; message: string } | null;
  canceledBy: string | null;
  /** What it was asked for; null: the org does not show it. */
  options: { testLevel: string | null; tests: string[] } | null;
  /** Null: they were not asked for. */
  details: DeploymentDetails | null;
}

/**
 * Deployments by `metadata/deployRequest` of the REST interface. An org runs one at a time, the others wait in order. Whether a
 * creating call that broke off was done is found in `DeployRequest` of the Tooling interface.
 */
export interface CrmDeployments {
  /** Rolls back on errors. Sends at most 5 min. */
  startDeployment: (order: DeployOrder) => Promise<CrmAnswer<{ deploymentId: string }>>;
  /** Deploys what a validation checked within the last ten days, unless the org was changed since. The id is a new one. */
  quickDeploy: (validationId: string) => Promise<CrmAnswer<{ deploymentId: string }>>;
  deploymentStatus: (deploymentId: string, options?: { includeDetails?: boolean }) => Promise<CrmAnswer<Deployment>>;
  /** At once while it waits, else later; refused when the deployment is over or being finalized. */
  cancelDeployment: (deploymentId: string) => Promise<CrmAnswer<{ status: string; isDone: boolean }>>;
}
