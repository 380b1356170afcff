import { soqlText } from '../../kernel/text/soql-rules.ts';

/** Results of one query, and fewer where they are larger than an answer may be: their texts may be long. */
export const RESULTS_PER_QUERY = [2_000, 200, 20] as const;

/** How far a run of tests is (Tooling, object ApexTestRunResult). */
export const testRunOf = (jobId: string): string =>
  `SELECT Status, MethodsEnqueued, MethodsCompleted, MethodsFailed, TestTime FROM ApexTestRunResult WHERE AsyncApexJobId = ${soqlText(jobId)}`;

/** The runs of tests that a user began since then. */
export const testRunsSince = (userId: string, since: Date): string =>
  `SELECT AsyncApexJobId FROM ApexTestRunResult WHERE UserId = ${soqlText(userId)} AND CreatedDate >= ${since.toISOString()} ORDER BY CreatedDate LIMIT 50`;

/** Results of a run of tests, in the order of their ids, behind one (Tooling, object ApexTestResult). */
export const testResultsAfter = (jobId: string, lastId: string, limit: number): string =>
  `SELECT Id, Outcome, MethodName, Message, StackTrace, RunTime, ApexClass.Name, ApexClass.NamespacePrefix FROM ApexTestResult WHERE AsyncApexJobId = ${soqlText(jobId)}${lastId === '' ? '' : ` AND Id > ${soqlText(lastId)}`} ORDER BY Id LIMIT ${limit}`;

/** The classes of a run of tests (object ApexTestQueueItem). */
export const classesOfRun = (jobId: string): string =>
  `SELECT ApexClass.Name FROM ApexTestQueueItem WHERE ParentJobId = ${soqlText(jobId)}`;

/** The classes of a run of tests that have not ended (object ApexTestQueueItem). */
export const openQueueItems = (jobId: string): string =>
  `SELECT Id FROM ApexTestQueueItem WHERE ParentJobId = ${soqlText(jobId)} AND Status IN ('Holding', 'Queued', 'Preparing', 'Processing')`;

/** What all tests of an org cover, by class (Tooling, object ApexCodeCoverageAggregate). */
export const COVERAGE =
  'SELECT ApexClassOrTrigger.Name, NumLinesCovered, NumLinesUncovered FROM ApexCodeCoverageAggregate';

/** What an org has of its own classes or triggers by name (Tooling, objects ApexClass and ApexTrigger). */
export const apexByName = (type: 'ApexClass' | 'ApexTrigger', names: readonly string[], fields: string): string =>
  `SELECT ${fields} FROM ${type} WHERE NamespacePrefix = null AND Name IN (${names.map(soqlText).join(', ')})`;

/** Which lines of some classes and triggers the tests of an org cover (Tooling, object ApexCodeCoverageAggregate). */
export const linesCovered = (ids: readonly string[]): string =>
  `SELECT ApexClassOrTriggerId, Coverage FROM ApexCodeCoverageAggregate WHERE ApexClassOrTriggerId IN (${ids.map(soqlText).join(', ')})`;

/** The test classes that covered some classes and triggers when they ran last (Tooling, object ApexCodeCoverage). */
export const testsCovering = (ids: readonly string[]): string =>
  `SELECT ApexTestClass.Name, ApexClassOrTriggerId FROM ApexCodeCoverage WHERE NumLinesCovered > 0 AND ApexTestClass.NamespacePrefix = null AND ApexClassOrTriggerId IN (${ids.map(soqlText).join(', ')})`;
