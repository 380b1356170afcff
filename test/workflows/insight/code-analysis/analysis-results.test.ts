import {
  analysisLogsSweep,
  analysisResultsSweep,
} from '../../../../activities/insight/code-analysis/analysis-results.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { logKey } from '../../../../domain/insight/code-analysis/sarif/log-upload.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { mirrored } from '../../../support/mirrored.ts';
import { newRepository, removeRepositories } from '../../../support/repository.ts';
import { logOf, resultAt } from '../../../support/sarif.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const PATH = '/api/testreports/code-analysis';
const sha = (letter: string) => letter.repeat(40);
const at = (minute: number) => new Date(Date.UTC(2026, 2, 2, 9, minute)).toISOString();
const error = { level: 'error' };

let app: TestApp;
let backend: WorkerBackend;
let worker: TestWorker;
let host: GitHostSimulator;
let made = 0;

beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true', OUTBOUND_ALLOW: '127.0.0.0/8' } });
  backend = activityDeps(app);
  host = await gitHost('host-a');
  const owner = app.as(app.owner);
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await owner.post(201, '/api/webhooks', {
    name: 'analyses',
    event: 'code_analysis.completed',
    provider: 'http',
    config: { url: 'http://127.0.0.1:9/' },
  });
  worker = await startWorker(app, ['git-v1']);
});
afterAll(async () => {
  await worker.stop();
  await host.close();
  await backend.close();
  await app.close();
  removeRepositories();
});

async function project(configuration: object = {}, platform = 'host-a') {
  const repositoryIdentifier = `acme/compared-${++made}`;
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform, configuration });
  return branchOf(repositoryIdentifier);
}

const branchOf = (repositoryIdentifier: string) => {
  const query = `repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`;
  const history = (): Promise<Json[]> => app.as(app.member).get(200, `${PATH}/history/main?${query}`);
  return {
    repositoryIdentifier,
    history,
    publish: (commitId: string, analyzedAt: string, results: readonly object[], status = 201, run: object = {}) =>
      app.as(app.application).post(status, `${PATH}/results`, {
        repositoryIdentifier,
        branch: 'main',
        commitId,
        analyzedAt,
        sarif: logOf(results, run),
      }),
    /** Waits until so many analyses are compared; answers new and fixed issues by commit. */
    async compared(count: number) {
      const rows = await eventually(
        history,
        (found) => found.length === count && found.every(({ gate }) => gate !== null),
      );
      return rows.map(({ commitId, summary }) => [commitId[0], summary.newIssues, summary.fixedIssues]);
    },
    compare: (status: number, base: string, head: string, more = ''): Promise<Json> =>
      app.as(app.member).get(status, `${PATH}/compare?${query}&branch=main&base=${base}&head=${head}${more}`),
  };
};
const statusesOf = (commitId: string) =>
  host.requests.filter(({ path }) => path.endsWith(`/statuses/${commitId}`)).map(({ body }) => body);
const eventsOf = async (repository: string) =>
  (await app.sql<{ data: Json }>('select payload as data from webhook_delivery order by created_at')).flatMap(
    ({ data }) => (data.repositoryIdentifier === repository ? [data] : []),
  );

test('results are compared with those before them, judged by the quality gate, and announced once', async () => {
  const branch = await project({ qualityGate: { maxErrors: 5, maxNewErrors: 0 } });
  await branch.publish(sha('a'), at(1), [resultAt('R1', 'a.js', 1), resultAt('R2', 'b.js', 2)]);
  expect(await branch.compared(1)).toEqual([['a', 0, 0]]);
  await branch.publish(sha('b'), at(2), [
    resultAt('R1', 'a.js', 1),
    resultAt('R3', 'a.js', 5, error),
    resultAt('R4', 'c.js', 5, { suppressions: [{ kind: 'inSource' }] }),
  ]);
  expect(await branch.compared(2)).toEqual([
    ['b', 1, 1],
    ['a', 0, 0],
  ]);
  const [{ gate }] = (await branch.history()) as [Json];
  expect(gate).toEqual({ status: 'failed', reasons: ['1 new errors, at most 0 allowed'] });
  await eventually(
    async () => statusesOf(sha('b')),
    (statuses) => statuses.length > 0,
  );
  expect(statusesOf(sha('a'))).toMatchObject([{ context: 'quayside/code-analysis', state: 'success' }]);
  expect(statusesOf(sha('b'))).toMatchObject([
    { context: 'quayside/code-analysis', state: 'failure', description: '1 new errors, at most 0 allowed' },
  ]);

  // An earlier run that arrives late changes what the next one is compared with.
  await branch.publish(sha('c'), at(1.5), [resultAt('R3', 'a.js', 5, error), resultAt('R5', 'd.js', 1)]);
  await eventually(
    async () => branch.compared(3),
    ([newest]) => newest?.[2] === 1 && newest[1] === 1,
  );
  expect(await branch.compared(3)).toEqual([
    ['b', 1, 1],
    ['c', 2, 2],
    ['a', 0, 0],
  ]);
  await eventually(
    async () => statusesOf(sha('b')),
    (statuses) => statuses.length === 2,
  );
  expect(statusesOf(sha('b'))[1]).toMatchObject({ state: 'success', description: '2 issues' });
  expect(
    (await eventsOf(branch.repositoryIdentifier)).map(({ commitSha, ...data }) => ({ [commitSha[0]]: data })),
  ).toEqual([
    { a: expect.objectContaining({ newIssues: 0, fixedIssues: 0, gate: { status: 'passed', reasons: [] } }) },
    { b: expect.objectContaining({ newIssues: 1, fixedIssues: 1, gate, totalIssues: 2, errors: 1, warnings: 1 }) },
    { c: expect.objectContaining({ newIssues: 2, fixedIssues: 2 }) },
  ]);
});

test('two commits are compared, in pages', async () => {
  const branch = await project();
  await branch.publish(sha('a'), at(1), [
    resultAt('R1', 'a.js', 1),
    ...[1, 2].map((line) => resultAt('R2', 'old.js', line, { message: { text: `line ${line} is long` } })),
  ]);
  await branch.publish(sha('b'), at(2), [
    resultAt('R3', 'b.js', 7, error),
    resultAt('R1', 'a.js', 90),
    resultAt('R3', 'c.js', 7),
  ]);
  await branch.compared(2);
  const whole = await branch.compare(200, sha('a'), sha('b'));
  expect(whole).toEqual({
    base: { commitId: sha('a'), analyzedAt: at(1) },
    head: { commitId: sha('b'), analyzedAt: at(2) },
    new: [
      { tool: 'lint', ruleId: 'R3', level: 'error', path: 'b.js', startLine: 7, message: 'R3 at b.js:7' },
      { tool: 'lint', ruleId: 'R3', level: 'warning', path: 'c.js', startLine: 7, message: 'R3 at c.js:7' },
    ],
    fixed: [
      { tool: 'lint', ruleId: 'R2', level: 'warning', path: 'old.js', startLine: 1, message: 'line 1 is long' },
      { tool: 'lint', ruleId: 'R2', level: 'warning', path: 'old.js', startLine: 2, message: 'line 2 is long' },
    ],
    unchangedCount: 1,
    isComplete: true,
    incompleteReason: null,
    limit: 100,
    nextCursor: null,
  });
  for (const limit of [1, 2, 3, 4]) {
    const pages: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Json = await branch.compare(
        200,
        sha('a'),
        sha('b'),
        `&limit=${limit}${cursor && `&cursor=${cursor}`}`,
      );
      expect(page.new.length + page.fixed.length).toBeLessThanOrEqual(limit);
      pages.push(page);
      cursor = page.nextCursor;
    }
    expect(pages).toHaveLength(Math.ceil(4 / limit));
    expect(pages.flatMap((page) => page.new)).toEqual(whole.new);
    expect(pages.flatMap((page) => page.fixed)).toEqual(whole.fixed);
  }
  expect(await branch.compare(200, sha('b'), sha('b'))).toMatchObject({ new: [], fixed: [], unchangedCount: 3 });
  await branch.compare(404, sha('a'), sha('d'));
  await branch.compare(400, sha('a'), sha('b'), '&cursor=x');
  await branch.compare(400, 'main', sha('b'));
});

test('a comparison with cut results says so, and its quality gate that it is not known', async () => {
  const branch = await project({ qualityGate: { maxNewErrors: 1 } });
  const found = (count: number) => ({ properties: { 'quayside/resultsFound': count } });
  await branch.publish(sha('a'), at(1), [resultAt('R1', 'a.js', 1)], 201, found(2));
  const results = ['R2', 'R3'].map((rule) => resultAt(rule, 'a.js', 5, error));
  await branch.publish(sha('b'), at(2), results);
  await branch.compared(2);
  const reason = 'Not all issues are known: of 2 issues that lint found in the older one the first 1 are kept';
  expect(await branch.compare(200, sha('a'), sha('b'))).toMatchObject({ isComplete: false, incompleteReason: reason });
  const gate = { status: 'unknown', reasons: ['1 to 2 new errors, at most 1 allowed', reason] };
  const [newest, oldest] = (await branch.history()) as [Json, Json];
  expect(newest.gate).toEqual(gate);
  expect(newest.summary).not.toHaveProperty('cutTools');
  expect(oldest.gate).toEqual({ status: 'passed', reasons: [] });
  expect(oldest.summary.cutTools).toEqual([{ tool: 'lint', kept: 1, found: 2 }]);
  expect(await eventsOf(branch.repositoryIdentifier)).toMatchObject([
    { isComplete: false },
    { isComplete: false, incompleteReason: reason, gate },
  ]);
  const [status] = await eventually(
    async () =>
      host.requests.filter(({ path }) => path.includes(branch.repositoryIdentifier) && path.endsWith(sha('b'))),
    (statuses) => statuses.length > 0,
  );
  expect(status?.body).toMatchObject({ state: 'error', description: expect.stringMatching(/^Unknown: 1 to 2 new/) });
});

test('an issue is the same when its line has moved, by hashes of the tool or of the file', async () => {
  const remote = newRepository();
  const first = remote.commit({ files: { 'src/a.js': 'let a\nlet b = 1\n' } });
  const second = remote.commit({ files: { 'src/a.js': '// new\n\nlet a\nlet b = 1\n' } });
  const branch = branchOf((await mirrored(app, remote)).repositoryIdentifier);
  const given = { partialFingerprints: { primaryLocationLineHash: 'abc:1' } };
  const moved = (line: number) => [
    resultAt('R1', 'src/a.js', line, { message: { text: `seen in ${'x'.repeat(line)}` } }),
    resultAt('R2', 'src/a.js', line, { message: { text: `seen in ${'x'.repeat(line)}` }, ...given }),
  ];
  await branch.publish(first, at(1), moved(2));
  await branch.publish(second, at(2), moved(4));
  await branch.compared(2);
  expect(await branch.compare(200, first, second)).toMatchObject({ new: [], fixed: [], unchangedCount: 2 });
});

test('abbreviated ids of commits are completed where the repository has them', async () => {
  const remote = newRepository();
  const [first, second] = ['1', '2'].map((text) => remote.commit({ files: { a: text } })) as [string, string];
  const branch = branchOf((await mirrored(app, remote)).repositoryIdentifier);
  await branch.publish(first.slice(0, 8), at(1), []);
  await branch.publish(second, at(2), []);
  await branch.compared(2);
  expect((await branch.history()).map(({ commitId }) => commitId)).toEqual([second, first]);
  await branch.compare(200, first.slice(0, 7), second.slice(0, 12).toUpperCase());
  expect(await branch.publish(first, at(3), [], 200)).toMatchObject({ ignored: true });
  const query = new URLSearchParams({ repositoryIdentifier: branch.repositoryIdentifier, branch: 'main' });
  expect(await app.as(app.member).get(200, `${PATH}?${query}&commitId=${first.slice(0, 10)}`)).toMatchObject({
    status: 'available',
    data: { commitId: first },
  });
});

test('what no row can keep is replaced: U+0000, halves of characters, a line number beyond all lines', async () => {
  const branch = await project();
  await branch.publish(sha('a'), at(1), [
    resultAt('R\0', 'a\0.js', 3e9, { message: { text: 'x\0y \ud800 z' } }),
    { message: { text: 'without a place' } },
  ]);
  expect(await branch.compared(1)).toEqual([['a', 0, 0]]);
  expect((await branch.history())[0]?.summary.issuesByRule).toMatchObject([{ ruleId: '' }, { ruleId: 'R\ufffd' }]);
});

test('results whose signal was lost are compared by the sweep, and statuses written that the host did not take', async () => {
  const branch = await project({ qualityGate: { maxErrors: 0 } });
  await branch.publish(sha('e'), at(1), []);
  await branch.compared(1);
  await eventually(
    async () => statusesOf(sha('e')),
    (statuses) => statuses.length === 1,
  );
  const set = (text: string) =>
    app.sql(`update code_analysis set ${text} where commit_id = ? and analyzed_at = ?`, [sha('e'), at(1)]);
  await set(`updated_at = now() - interval '1 hour'`);
  expect(await runSweep(backend.deps, analysisResultsSweep)).toMatchObject({ handled: 0 });
  await set(`compared_at = null, gate = null, updated_at = now() - interval '31 seconds'`);
  await eventually(
    () => runSweep(backend.deps, analysisResultsSweep),
    ({ handled }) => handled === 1,
  );
  await branch.compared(1);
  await eventually(
    async () => statusesOf(sha('e')),
    (statuses) => statuses.length === 2,
  );
  expect(await eventsOf(branch.repositoryIdentifier)).toHaveLength(1);
});

test('a status without a credential is noted, and not tried again', async () => {
  const branch = await project({ qualityGate: { maxErrors: 0 } }, 'host-c');
  await branch.publish(sha('f'), at(1), []);
  const rows = () => app.sql('select status_due, status_error from code_analysis where commit_id = ?', [sha('f')]);
  await eventually(rows, ([row]) => row?.status_error != null);
  expect(await rows()).toEqual([{ status_due: false, status_error: 'no credential for the git host is kept' }]);
});

test('logs of uploads that broke off are removed after a day', async () => {
  const { tenantId } = app.tenantKey;
  const id = '11111111-1111-4111-8111-111111111111';
  const key = logKey(tenantId, id);
  const chunks = async function* () {
    yield Buffer.from('{');
  };
  await backend.deps.objects.put(key, chunks(), 'application/json');
  await app.sql(
    `insert into code_analysis_body (tenant_id, id, created_at) values (?, ?, now() - interval '23 hours')`,
    [tenantId, id],
  );
  expect(await runSweep(backend.deps, analysisLogsSweep)).toMatchObject({ handled: 0 });
  await app.sql(`update code_analysis_body set created_at = now() - interval '25 hours' where id = ?`, [id]);
  expect(await runSweep(backend.deps, analysisLogsSweep)).toMatchObject({ handled: 1 });
  expect(await backend.deps.objects.sizeOf(key)).toBeUndefined();
});
