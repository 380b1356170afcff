import type { NamedComponent } from './deployed-components.ts';
import type { Judged, Problem } from './deployment-judgement.ts';
import type { SimulatedDeployment } from './deployments.ts';
import type { SimulatedOrg } from './org.ts';

/** As `DeployResult` of the Metadata interface. */
export type DeployResult = Record<string, unknown>;

export function resultOf(
  org: SimulatedOrg,
  deployment: SimulatedDeployment,
  { includesDetails, isTesting }: { includesDetails: boolean; isTesting: boolean },
): DeployResult {
  const { options, status, isDone, judged, createdAt, completedAt } = deployment;
  const total = deployment.components.length + deployment.deletions.length;
  const errors = judged?.problems.filter(({ problemType }) => problemType === 'Error').length ?? 0;
  const hasBegun = status !== 'Pending' && status !== 'Canceled';
  const isOver = isDone && status !== 'Canceled';
  const ran = isOver || isTesting ? (judged?.tests.length ?? 0) : 0;
  const failedTests = judged?.tests.filter(({ failure }) => failure).length ?? 0;
  const error = isOver ? judged?.error : null;
  return {
    id: deployment.id,
    status,
    done: isDone,
    success: isOver && (judged?.isSuccess ?? true),
    checkOnly: options.checkOnly === true,
    ignoreWarnings: options.ignoreWarnings === true,
    rollbackOnError: options.rollbackOnError === true,
    runTestsEnabled: (judged?.tests.length ?? 0) > 0,
    createdBy: deployment.createdBy.slice(0, 15),
    createdByName: deployment.createdBy === org.userId ? 'Own User' : 'Grace Admin',
    createdDate: createdAt.toISOString(),
    startDate: hasBegun ? createdAt.toISOString() : null,
    lastModifiedDate: (completedAt ?? createdAt).toISOString(),
    completedDate: completedAt?.toISOString() ?? null,
    stateDetail: status === 'InProgress' ? (isTesting ? 'Running Test' : 'Processing Type: ApexClass') : null,
    numberComponentsTotal: hasBegun && !error ? total : 0,
    numberComponentsDeployed: isTesting || isOver ? total - errors : 0,
    numberComponentErrors: isTesting || isOver ? errors : 0,
    numberTestsTotal: judged?.tests.length ?? 0,
    numberTestsCompleted: isOver ? ran - failedTests : 0,
    numberTestErrors: isOver ? failedTests : 0,
    ...error,
    ...(deployment.canceledByName !== null && {
      canceledBy: org.userId.slice(0, 15),
      canceledByName: deployment.canceledByName,
    }),
    ...(includesDetails && { details: isOver && judged && !error ? detailsOf(org, deployment, judged) : NO_DETAILS }),
  };
}

const NO_TESTS = {
  numTestsRun: 0,
  numFailures: 0,
  totalTime: 0,
  failures: [],
  successes: [],
  codeCoverage: [],
  codeCoverageWarnings: [],
};
const NO_DETAILS = { componentFailures: [], componentSuccesses: [], runTestResult: NO_TESTS };

function detailsOf(org: SimulatedOrg, deployment: SimulatedDeployment, judged: Judged) {
  const message = ({ type, fullName }: NamedComponent, fileName: string, more: object) => ({
    componentType: type,
    fullName,
    fileName,
    created: false,
    changed: false,
    deleted: false,
    createdDate: deployment.createdAt.toISOString(),
    success: true,
    ...more,
  });
  const problem = ({ line, problem: text, problemType, ...about }: Problem) =>
    message(about, about.fileName, {
      ...(line !== null && { lineNumber: line, columnNumber: 1 }),
      problem: text,
      problemType,
      success: problemType === 'Warning',
    });
  const taken = judged.taken.map((each) =>
    message(each, org.deployments.components.filesOf(each, deployment.files)[0] ?? '', {
      created: judged.created.has(each),
      changed: judged.changed.has(each),
    }),
  );
  const absent = new Set(judged.problems.map(({ type, fullName }) => `${type}:${fullName}`));
  const deleted = deployment.deletions
    .filter(({ type, fullName }) => !absent.has(`${type}:${fullName}`))
    .map((each) => message(each, 'destructiveChanges.xml', { deleted: true }));
  const failed = judged.tests.filter(({ failure }) => failure);
  return {
    componentFailures: judged.problems.filter(({ problemType }) => problemType === 'Error').map(problem),
    componentSuccesses: [
      message({ type: '', fullName: 'package.xml' }, 'package.xml', { changed: true }),
      ...taken,
      ...deleted,
      ...judged.problems.filter(({ problemType }) => problemType === 'Warning').map(problem),
    ],
    runTestResult: {
      numTestsRun: judged.testsRun,
      numFailures: failed.length,
      totalTime: judged.testsRun * 10,
      failures: failed.map(({ className, method, failure }) => ({
        id: org.orgId,
        name: className,
        methodName: method,
        packageName: className,
        type: 'Class',
        time: 10,
        ...failure,
      })),
      successes: judged.tests
        .filter(({ failure }) => !failure)
        .map(({ className, method }) => ({ id: org.orgId, name: className, methodName: method, time: 10 })),
      codeCoverage:
        judged.testsRun === 0
          ? []
          : [...org.deployments.coverage].map(([name, { lines, uncovered: bare }]) => ({
              id: org.orgId,
              name,
              type: 'Class',
              numLocations: lines,
              numLocationsNotCovered: bare,
            })),
      codeCoverageWarnings: judged.coverageWarnings.map(({ name, message: text }) => ({
        id: org.orgId,
        ...(name !== '' && { name }),
        message: text,
      })),
    },
  };
}
