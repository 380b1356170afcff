import {
  armMockScenario,
  changes as changeStream,
  dataOf,
  getDocumentVersion,
  type MockVerification,
  publishCodeAnalysis,
  recordSessionForPullRequest,
  recordSessionInEnvironment,
  saveDocument,
  verifyMockCalls,
} from '@quayside/client';
import { branchOf, commitOf } from '../built.ts';
import { type Context, ifFound, unknownHere } from '../context.ts';
import { EXIT, usage } from '../exit.ts';
import { countOf, fileText, parseJson, parseObject, textOf, writtenAt } from '../input.ts';
import { environmentOf } from '../names.ts';
import { fields, type Outcome } from '../output.ts';
import { packageManifest } from '../package-manifest.ts';

export async function publishSarif(
  context: Context,
  file: string,
  { branch, commit }: { branch?: string; commit?: string },
): Promise<Outcome> {
  const sarif = parseObject(fileText(file), file);
  const body = {
    repositoryIdentifier: context.repository(),
    branch: branchOf(context, branch),
    commitId: commitOf(context, commit),
    sarif,
    analyzedAt: writtenAt(file).toISOString(),
  };
  const data = await dataOf(publishCodeAnalysis({ client: context.client, body, headers: context.keyed(body) }));
  return { data, text: data.ignored ? 'the commit has results already' : 'published' };
}

/** Publishes what a package holds, as a document of the branch; it takes the place of the one before. */
export async function publishManifest(
  context: Context,
  packageName: string,
  file: string,
  options: { branch?: string },
): Promise<Outcome> {
  const { client } = context;
  const branch = branchOf(context, options.branch);
  const path = { collectionName: `manifests/${context.repository()}:${branch}`, key: packageName };
  const query = { store: 'packages' } as const;
  const text = fileText(file);
  const value = { payload: text.trimStart().startsWith('<') ? packageManifest(text) : parseJson(text, file) };
  const earlier = await ifFound(getDocumentVersion({ client, path, query }));
  const body = { value, ...(earlier !== undefined && { version: earlier.version }) };
  const { version } = await dataOf(saveDocument({ client, path, query, body, headers: context.keyed(body) }));
  return { data: { ...path, version }, text: `${path.collectionName}/${packageName} version ${version}` };
}

export async function armMock(
  context: Context,
  workspace: string,
  name: string,
  { minutes, replace }: { minutes?: string; replace?: boolean },
): Promise<Outcome> {
  const body = minutes === undefined ? {} : { minutes: countOf(minutes, '--minutes') };
  const query = replace ? { replace: true } : {};
  const data = await dataOf(armMockScenario({ client: context.client, path: { workspace, name }, query, body }));
  const { status, baseUrl, armedUntil } = data;
  return { data, text: fields({ scenario: name, status, baseUrl, armedUntil }) };
}

export async function verifyMock(
  context: Context,
  workspace: string,
  name: string,
  { expect }: { expect: string },
): Promise<Outcome> {
  const given = parseJson(textOf(expect), 'what is expected');
  const body = (Array.isArray(given) ? { expect: given } : given) as Parameters<typeof verifyMockCalls>[0]['body'];
  const data = await dataOf(verifyMockCalls({ client: context.client, path: { workspace, name }, body }));
  const failures = data.failures.map((failure) => `\n  expectation ${failure.expectation + 1}: ${whyFailed(failure)}`);
  const text = `${data.passed ? 'passed' : 'failed'}, ${data.calls} calls${failures.join('')}`;
  return { data, text, exitCode: data.passed ? 0 : EXIT.failed };
}

/** Why calls are not as one expectation has them. */
function whyFailed({ reason, found, unknown, atLeast, atMost, nearest }: MockVerification['failures'][number]): string {
  if (reason === 'order') return 'its calls came in another order';
  if (reason === 'unknown') return `of ${unknown} calls it is not known whether they match`;
  const wanted = atMost === null ? `at least ${atLeast}` : atMost === atLeast ? atLeast : `${atLeast} to ${atMost}`;
  // Calls that match are among the nearest.
  const closest = nearest.find(({ criteria }) => criteria.some(({ matches }) => !matches));
  const differs = closest?.criteria.filter(({ matches }) => !matches).map(({ criterion }) => criterion) ?? [];
  const near = closest
    ? `; the nearest is ${closest.method} ${closest.path}, which differs in ${differs.join(', ')}`
    : '';
  return `${found} calls match, ${wanted} were expected${near}`;
}

export async function openSession(
  context: Context,
  { pr, environment, minutes }: { pr?: string; environment?: string; minutes?: string },
): Promise<Outcome> {
  if ((pr === undefined) === (environment === undefined)) throw usage('Give --pr or --environment');
  const { client } = context;
  const length = minutes === undefined ? {} : { minutes: countOf(minutes, '--minutes') };
  const show = (data: { id: string; status: string; liveViewUrl: string | null; expires_at: string }): Outcome => ({
    data,
    text: fields({ session: data.id, status: data.status, url: data.liveViewUrl, expires: data.expires_at }),
  });
  if (environment !== undefined) {
    const { id: envId } = await environmentOf(context, environment);
    const headers = context.keyed(length);
    return show(await dataOf(recordSessionInEnvironment({ client, path: { envId }, body: length, headers })));
  }
  const prNumber = countOf(pr ?? '', '--pr');
  const body = { repositoryIdentifier: context.repository(), prNumber, ...length };
  return show(await dataOf(recordSessionForPullRequest({ client, body, headers: context.keyed(body) })));
}

/** What changes, a line each, until the command is ended. */
export async function followChanges(context: Context, { topic }: { topic: string[] }): Promise<undefined> {
  const { client, signal } = context;
  if (!(await context.knows('get', '/api/changes'))) throw unknownHere('changes as they happen');
  const repositoryIdentifier = context.named();
  const options = {
    client,
    signal,
    ...(topic.length > 0 && { topics: topic }),
    ...(repositoryIdentifier !== undefined && { repositoryIdentifier }),
  };
  for await (const event of changeStream(options)) {
    if (event.type === 'changes')
      for (const change of event.changes)
        context.line(change, `${change.topic} ${change.id ?? ''} ${change.repositoryIdentifier ?? ''}`.trimEnd());
    else context.say(event.type === 'hello' ? 'connected' : `changes may have been missed: ${event.reason}`);
  }
  throw signal.reason;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

/** Any request of the service. */
export async function callApi(
  context: Context,
  method: string,
  path: string,
  { data: given }: { data?: string },
): Promise<Outcome> {
  const upper = method.toUpperCase() as Method;
  if (!METHODS.includes(upper)) throw usage(`${method} is no method; give one of ${METHODS.join(', ')}`);
  if (!path.startsWith('/')) throw usage('The path begins with a slash: /api/projects');
  const body = given === undefined ? undefined : parseJson(textOf(given), '--data');
  const data = await dataOf(
    context.client.request<{ 200: unknown }>({
      method: upper,
      url: path.replaceAll('{', '%7B').replaceAll('}', '%7D'),
      security: [{ scheme: 'bearer', type: 'http' }],
      ...(body !== undefined && { body }),
      headers: upper === 'POST' ? context.keyed(body) : {},
    }),
  );
  return { data, text: typeof data === 'string' ? data.trimEnd() : JSON.stringify(data, null, 2) };
}
