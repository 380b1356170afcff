import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import {
  type ComponentProblem,
  type CrmDeployments,
  type DeployArchive,
  type Deployment,
  type DeploymentDetails,
  type DeployOrder,
  DETAILS_MAX,
} from '../../../domain/orgs/crm/crm-deployments.port.ts';
import type { CrmAnswer } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { cut } from '../../../domain/orgs/crm/platform-error-rules.ts';
import type { CrmTimeouts } from './crm-http.ts';
import { shaped } from './crm-org.ts';
import { bearer, type CrmSession, readRest } from './crm-session.ts';

const PATH = '/metadata/deployRequest';
/** Details of 10,000 components, each of which the platform lists twice. */
const REPLY_MAX_BYTES = 64 * 1_048_576;
const PROBLEM_MAX = 2_000;

const text = z.string().nullish();
const count = z.coerce.number().catch(0);
/** Lists of the interface come as one value where there is one. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.preprocess((value) => (value === null || value === undefined ? [] : [value].flat()), z.array(item));

const Message = z.object({
  componentType: text,
  fullName: text,
  fileName: text,
  lineNumber: z.coerce.number().nullish().catch(null),
  columnNumber: z.coerce.number().nullish().catch(null),
  problem: text,
  problemType: text,
  created: z.boolean().nullish(),
  changed: z.boolean().nullish(),
  deleted: z.boolean().nullish(),
});
const Coverage = z.object({ name: z.string(), numLocations: count, numLocationsNotCovered: count });
const RunTestResult = z.object({
  numTestsRun: count,
  numFailures: count,
  failures: listOf(z.object({ name: text, methodName: text, message: text, stackTrace: text })),
  codeCoverage: listOf(Coverage),
  codeCoverageWarnings: listOf(z.object({ name: text, message: text })),
});
const Details = z.object({
  componentFailures: listOf(Message),
  componentSuccesses: listOf(Message),
  runTestResult: RunTestResult.nullish(),
});
const Result = z.object({
  id: z.string(),
  status: z.string(),
  done: z.boolean(),
  success: z.boolean(),
  checkOnly: z.boolean().nullish(),
  runTestsEnabled: z.boolean().nullish(),
  stateDetail: text,
  numberComponentsTotal: count,
  numberComponentsDeployed: count,
  numberComponentErrors: count,
  numberTestsTotal: count,
  numberTestsCompleted: count,
  numberTestErrors: count,
  errorStatusCode: text,
  errorMessage: text,
  canceledByName: text,
  details: Details.nullish(),
});
const Options = z.object({ testLevel: text, runTests: listOf(z.string()) });
const Request = z.object({ deployResult: Result, deployOptions: Options.nullish().catch(null) });
const Created = z.object({ id: z.string().regex(/^0Af\w{12,15}$/) });

/** Deployments of an org over REST (developer.salesforce.com, "Deploying with the REST API"). */
export function createCrmDeployments(session: CrmSession, { downloadMs }: CrmTimeouts): CrmDeployments {
  const created = (answer: CrmAnswer<unknown>): CrmAnswer<{ deploymentId: string }> => {
    const made = shaped(answer, Created);
    return made.isOk ? { isOk: true, value: { deploymentId: made.value.id } } : made;
  };
  return {
    startDeployment: async (order) =>
      created(
        await session.withCredential((open) => {
          const { body, headers } = multipart(order);
          const path = `/services/data/v${open.version}${PATH}`;
          const call = { method: 'POST' as const, path, headers: bearer(open, headers), body, timeoutMs: downloadMs };
          return session.send(open, call, (response) => readRest(response, open));
        }),
      ),
    quickDeploy: async (validationId) =>
      created(await session.call({ path: PATH, body: { validatedDeployRequestId: validationId } })),
    async deploymentStatus(deploymentId, { includeDetails = false } = {}) {
      const path = `${PATH}/${encodeURIComponent(deploymentId)}${includeDetails ? '?includeDetails=true' : ''}`;
      const answer = shaped(await session.call({ path, budget: { bytes: REPLY_MAX_BYTES } }), Request);
      return answer.isOk ? { isOk: true, value: deploymentOf(answer.value, includeDetails) } : answer;
    },
    async cancelDeployment(deploymentId) {
      const path = `${PATH}/${encodeURIComponent(deploymentId)}`;
      const body = { deployResult: { status: 'Canceling' } };
      const answer = shaped(
        await session.call({ method: 'PATCH', path, body }),
        z.object({ deployResult: Result.pick({ status: true, done: true }) }),
      );
      if (!answer.isOk) return answer;
      const { status, done } = answer.value.deployResult;
      return { isOk: true, value: { status, isDone: done } };
    },
  };
}

/** The request of a deployment: its options, and the archive as it is read. */
function multipart({ archive, ...order }: DeployOrder): { body: Readable; headers: Record<string, string> } {
  const boundary = `quayside-${randomUUID()}`;
  const options = {
    checkOnly: order.checkOnly,
    rollbackOnError: true,
    singlePackage: true,
    ignoreWarnings: order.ignoreWarnings,
    ...(order.testLevel !== 'default' && { testLevel: order.testLevel }),
    ...(order.testLevel === 'RunSpecifiedTests' && { runTests: order.tests }),
  };
  const before =
    `--${boundary}\r\nContent-Disposition: form-data; name="entity_content"\r\nContent-Type: application/json\r\n\r\n` +
    `${JSON.stringify({ deployOptions: options })}\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="deploy.zip"\r\nContent-Type: application/zip\r\n\r\n`;
  const after = `\r\n--${boundary}--\r\n`;
  return {
    body: Readable.from(between(before, archive, after), { objectMode: false }),
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(Buffer.byteLength(before) + archive.sizeBytes + Buffer.byteLength(after)),
    },
  };
}

async function* between(before: string, archive: DeployArchive, after: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(before);
  yield* archive.content();
  yield Buffer.from(after);
}

function deploymentOf(
  { deployResult: result, deployOptions: options }: z.output<typeof Request>,
  includesDetails: boolean,
): Deployment {
  const { errorStatusCode, errorMessage } = result;
  return {
    deploymentId: result.id,
    status: cut(result.status),
    isDone: result.done,
    isSuccess: result.success,
    checkOnly: result.checkOnly ?? false,
    testsEnabled: result.runTestsEnabled ?? false,
    stateDetail: result.stateDetail ? cut(result.stateDetail) : null,
    components: {
      total: result.numberComponentsTotal,
      deployed: result.numberComponentsDeployed,
      errors: result.numberComponentErrors,
    },
    tests: {
      total: result.numberTestsTotal,
      completed: result.numberTestsCompleted,
      errors: result.numberTestErrors,
    },
    error:
      errorStatusCode || errorMessage
        ? { code: cut(errorStatusCode ?? 'UNKNOWN'), message: cut(errorMessage ?? '', PROBLEM_MAX) }
        : null,
    canceledBy: result.canceledByName ? cut(result.canceledByName) : null,
    options: options ? { testLevel: options.testLevel ?? null, tests: options.runTests } : null,
    details: includesDetails ? detailsOf(result.details ?? NO_DETAILS) : null,
  };
}

const NO_DETAILS: z.output<typeof Details> = { componentFailures: [], componentSuccesses: [] };

function detailsOf({
  componentFailures,
  componentSuccesses,
  runTestResult,
}: z.output<typeof Details>): DeploymentDetails {
  const changes = { created: 0, changed: 0, deleted: 0, unchanged: 0 };
  for (const { fileName, created, changed, deleted } of componentSuccesses) {
    if (fileName === 'package.xml' || fileName?.endsWith('/package.xml')) continue;
    changes[deleted ? 'deleted' : created ? 'created' : changed ? 'changed' : 'unchanged']++;
  }
  const isWarning = ({ problemType }: z.output<typeof Message>) => problemType === 'Warning';
  const warned = componentSuccesses.filter(({ problem }) => Boolean(problem));
  return {
    failures: componentFailures
      .filter((each) => !isWarning(each))
      .slice(0, DETAILS_MAX)
      .map(problemOf),
    warnings: [...componentFailures.filter(isWarning), ...warned].slice(0, DETAILS_MAX).map(problemOf),
    changes,
    testFailures: (runTestResult?.failures ?? []).slice(0, DETAILS_MAX).map((failure) => ({
      className: cut(failure.name ?? ''),
      method: failure.methodName ? cut(failure.methodName) : null,
      message: cut(failure.message ?? '', PROBLEM_MAX),
      stackTrace: failure.stackTrace ? cut(failure.stackTrace, PROBLEM_MAX) : null,
    })),
    testsRun: runTestResult?.numTestsRun ?? 0,
    testsFailed: runTestResult?.numFailures ?? 0,
    coverageWarnings: (runTestResult?.codeCoverageWarnings ?? []).slice(0, DETAILS_MAX).map(({ name, message }) => ({
      name: name ? cut(name) : null,
      message: cut(message ?? '', PROBLEM_MAX),
    })),
    coverage: (runTestResult?.codeCoverage ?? []).slice(0, DETAILS_MAX).map((each) => ({
      name: cut(each.name),
      lines: each.numLocations,
      uncovered: each.numLocationsNotCovered,
    })),
  };
}

const problemOf = (message: z.output<typeof Message>): ComponentProblem => ({
  type: cut(message.componentType ?? ''),
  fullName: cut(message.fullName ?? ''),
  fileName: cut(message.fileName ?? ''),
  line: message.lineNumber ?? null,
  column: message.columnNumber ?? null,
  problem: cut(message.problem ?? '', PROBLEM_MAX),
});
