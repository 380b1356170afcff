import { gzipSync } from 'node:zlib';
import { type TestApp, testApp } from '../../../support/app.ts';
import { type Answer, type ApiClient, type Json } from '../../../support/client.ts';
import { engineAway } from '../../../support/launch.ts';
import { logOf, resultAt } from '../../../support/sarif.ts';

const PATH = '/api/testreports/code-analysis';
const repositoryIdentifier = 'acme/storefront';

let app: TestApp;
let owner: ApiClient;
let application: ApiClient;
let last = 0;

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  owner = app.as(app.owner);
  application = app.as(app.application);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
});
afterAll(() => app.close());

const fresh = () => (++last).toString(16).padStart(40, '0');
const members = (more: object = {}) => ({
  repositoryIdentifier,
  branch: `b${last}`,
  commitId: fresh(),
  analyzedAt: new Date(Date.now() - 1_000).toISOString(),
  duration: 1_500.5,
  ...more,
});
const post = (status: number, rawBody: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
  application.request(status, 'POST', `${PATH}/results`, {
    rawBody,
    headers: { 'content-type': 'application/json', ...headers },
  });
const publish = (status: number, sarif: unknown, more: object = {}) =>
  post(status, JSON.stringify({ ...members(more), sarif }));
const history = (branch: string): Promise<Json> =>
  owner.get(
    200,
    `${PATH}/history/${encodeURIComponent(branch)}?repositoryIdentifier=${repositoryIdentifier}&limit=100`,
  );
const sarifOf = async (branch: string): Promise<string> => {
  const [{ sarifUrl }] = await history(branch);
  return (await owner.request(200, 'GET', sarifUrl.replace('http://quayside.test', ''))).text;
};
const bodies = async () => Number((await app.sql('select count(*) from code_analysis_body'))[0]?.count);

test('results are published, listed, and given back byte by byte', async () => {
  const sarif = `{"version": "2.1.0",\r\n "runs": [{"tool": {"driver": {"name": "l\\u00efnt 😀"}}, "results": [
    ${JSON.stringify(resultAt('R1', 'src/a.js', 3, { level: 'error' }))}, ${JSON.stringify(resultAt('R1', 'src/b.js', 4))},
    ${JSON.stringify(resultAt('R2', 'src/b.js', 5, { suppressions: [{ kind: 'inSource' }] }))}] }] }`;
  const { sarif: _, ...given } = { ...members({ branch: 'feature/x' }), sarif: 1 };
  const body = `{"sarif": ${sarif}, ${JSON.stringify(given).slice(1)}`;
  expect((await post(201, body)).body).toEqual({ success: true });
  expect((await post(200, body)).body).toEqual({ success: true, ignored: true });
  expect(await history('feature/x')).toEqual([
    {
      id: expect.any(String),
      repositoryIdentifier,
      branch: 'feature/x',
      commitId: given.commitId,
      analyzedAt: given.analyzedAt,
      duration: 1_500.5,
      summary: {
        totalIssues: 2,
        issuesByLevel: { error: 1, warning: 1, note: 0, none: 0 },
        issuesByRule: [{ ruleId: 'R1', ruleName: 'R1', count: 2, level: 'error' }],
        toolsUsed: [{ name: 'lïnt 😀', version: null }],
        filesAffected: 2,
        analysisSuccessful: true,
        isComplete: true,
        incompleteReason: null,
        suppressed: 1,
        newIssues: null,
        fixedIssues: null,
      },
      metadata: { triggeredBy: 'app:ci', scheduledRun: false, tools: ['lïnt 😀'] },
      gate: null,
      sarifUrl: expect.stringContaining(`${PATH}/results/`),
    },
  ]);
  expect(await sarifOf('feature/x')).toBe(sarif);
});

test('a log is taken as gzip, and as base64 of its gzip, with a byte order mark and CRLF', async () => {
  const log = `\uFEFF${JSON.stringify(logOf([resultAt('R1', 'a.js', 1)]), null, 1).replaceAll('\n', '\r\n')}`;
  const sarif = gzipSync(log).toString('base64');
  await post(201, gzipSync(JSON.stringify({ ...members({ branch: 'packed' }), sarif })), {
    'content-encoding': 'gzip',
  });
  expect(await sarifOf('packed')).toBe(log.slice(1));
});

test('an Idempotency-Key holds for a streamed body', async () => {
  const body = JSON.stringify({ ...members({ branch: 'keyed' }), sarif: logOf([]) });
  const headers = { 'idempotency-key': 'once' };
  await post(201, body, headers);
  expect((await post(201, body, headers)).headers.get('idempotency-replayed')).toBe('true');
  await post(422, body.replace('keyed', 'other'), headers);
});

test('runs may be null, and results may be missing', async () => {
  await publish(201, { version: '2.1.0', runs: null }, { branch: 'none' });
  await publish(201, logOf(undefined), { branch: 'none' });
  expect((await history('none')).map(({ summary }: Json) => summary.totalIssues)).toEqual([0, 0]);
});

test('the newest ten runs of a branch are kept, with their logs', async () => {
  const before = await bodies();
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  for (let minute = 0; minute < 12; minute++) await publish(201, logOf([]), { branch: 'many', analyzedAt: at(minute) });
  const kept = await history('many');
  expect(kept.map(({ analyzedAt }: Json) => analyzedAt)).toEqual(
    Array.from({ length: 10 }, (_, place) => at(11 - place)),
  );
  expect((await bodies()) - before).toBe(10);
});

test('the dashboard shows the latest run, the history and the trend', async () => {
  for (const [minute, issues] of [1, 1, 1, 2, 2, 1].entries())
    await publish(201, logOf(Array.from({ length: issues }, (_, line) => resultAt('R', 'a.js', line + 1))), {
      branch: 'trend',
      analyzedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    });
  const dashboard = await owner.get(200, `${PATH}/dashboard/trend?repositoryIdentifier=${repositoryIdentifier}`);
  expect(dashboard).toMatchObject({
    repositoryIdentifier,
    branch: 'trend',
    latestAnalysis: { summary: { totalIssues: 1 } },
    trends: { issuesTrend: 'up', isComplete: true },
  });
  expect(dashboard.history.map(({ totalIssues, warnings }: Json) => [totalIssues, warnings])).toEqual(
    [1, 2, 2, 1, 1, 1].map((issues) => [issues, issues]),
  );
  expect(await owner.get(200, `${PATH}/dashboard/nothing?repositoryIdentifier=${repositoryIdentifier}`)).toMatchObject({
    latestAnalysis: null,
    history: [],
    trends: { issuesTrend: 'stable' },
  });
});

test('where not all issues of a run are kept, its numbers and the trend say so', async () => {
  for (const [minute, found] of [1, 1, 2, 1, 1, 1, 1, 1].entries()) {
    const log = logOf([resultAt('R', 'a.js', 1)]);
    for (const run of log.runs as Json[]) run.properties = { 'quayside/resultsFound': found };
    await publish(201, log, {
      branch: 'cut',
      analyzedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    });
  }
  const cut = {
    isComplete: false,
    incompleteReason: expect.stringMatching(/of 2 issues that .* the first 1 are kept/),
  };
  const [whole, ...others] = await history('cut');
  expect(whole?.summary).toMatchObject({ isComplete: true, incompleteReason: null });
  expect(others[4]?.summary).toMatchObject(cut);
  const dashboard = await owner.get(200, `${PATH}/dashboard/cut?repositoryIdentifier=${repositoryIdentifier}`);
  expect(dashboard.history.map(({ isComplete }: Json) => isComplete)).toEqual([1, 1, 1, 1, 0, 0, 1, 1].map(Boolean));
  expect(dashboard.trends.isComplete).toBe(false);
});

const nested = (levels: number) => `{"version":"2.1.0","runs":${'['.repeat(levels)}`;
const withResult = (result: object) => logOf([result]);

test.each<[string, unknown, string]>([
  ['another version', { version: '2.0.0', runs: [] }, 'version'],
  ['a missing version', { runs: [] }, 'sarif'],
  ['a result without a message', withResult({ ruleId: 'R' }), 'runs/0/results/0'],
  ['a result with an unknown level', withResult({ message: { text: 'x' }, level: 'fatal' }), 'runs/0/results/0/level'],
  ['a run without a tool', { version: '2.1.0', runs: [{ results: [] }] }, 'runs/0'],
  [
    'a region without a place',
    withResult(
      resultAt('R', 'a', 1, { locations: [{ physicalLocation: { artifactLocation: { uri: 'a' }, region: {} } }] }),
    ),
    'region',
  ],
  ['runs that are an object', { version: '2.1.0', runs: {} }, 'runs'],
  ['too many runs', { version: '2.1.0', runs: Array.from({ length: 21 }, () => logOf([]).runs[0]) }, 'runs'],
  [
    'a result with too many locations',
    withResult({ message: { text: 'x' }, locations: Array.from({ length: 1_001 }, () => ({})) }),
    'locations',
  ],
  ['a result of more than 1 MB', withResult({ message: { text: 'x'.repeat(1_100_000) } }), 'runs'],
  [
    'too many extensions',
    logOf([], { tool: { driver: { name: 'lint' }, extensions: Array.from({ length: 101 }, () => ({ name: 'x' })) } }),
    'runs/0/tool',
  ],
  [
    'too many bases',
    logOf([], {
      originalUriBaseIds: Object.fromEntries(Array.from({ length: 101 }, (_, place) => [`B${place}`, { uri: 'a/' }])),
    }),
    'originalUriBaseIds',
  ],
  ['a number', 5, 'sarif'],
  ['base64 with other characters', `${gzipSync(JSON.stringify(logOf([]))).toString('base64')}!`, 'sarif'],
  ['text that is no gzip', 'aGVsbG8=', 'sarif'],
  [
    'a gzip that ends early',
    gzipSync(JSON.stringify(logOf([])))
      .subarray(0, 40)
      .toString('base64'),
    'sarif',
  ],
  ['a gzip of what is no JSON', gzipSync('{"version": "2.1.0", "runs": [').toString('base64'), 'sarif'],
])('a log with %s gets 422 with a pointer', async (_, sarif, pointer) => {
  const before = await bodies();
  const { body } = await publish(422, sarif);
  expect(body.code).toBe('unprocessable');
  expect(body.errors[0].pointer).toMatch(/^#\/body\/sarif/);
  expect(body.errors[0].pointer).toContain(pointer);
  expect(await bodies()).toBe(before);
});

test('a member that is given twice is refused', async () => {
  const log = JSON.stringify(logOf([resultAt('R', 'a.js', 1)]));
  const twice = (text: string) => `${JSON.stringify(members()).slice(0, -1)},"sarif":${text}}`;
  const { body } = await post(422, twice(log.replace('"ruleId"', '"message":{"text":"x"},"ruleId"')));
  expect(body.errors[0].pointer).toBe('#/body/sarif/runs/0/results/0/message');
  await post(400, `${JSON.stringify(members()).slice(0, -1)},"branch":"x","sarif":${log}}`);
});

test('results without a log are a malformed request, like those without another member', async () => {
  const { body } = await post(400, JSON.stringify(members()));
  expect(body.errors).toEqual([{ pointer: '#/body/sarif', detail: 'is required' }]);
});

test('a region without a beginning is told which members may be it', async () => {
  const result = resultAt('R', 'a.js', 1);
  const [location] = (result as Json).locations;
  location.physicalLocation.region = { endLine: 5 };
  const { body } = await publish(422, logOf([{ ...result, locations: [location] }]));
  expect(body.errors[0].detail).toBe('must have one of the members startLine, charOffset, byteOffset');
});

test('a million levels are refused at the hundredth', async () => {
  const { body } = await post(422, `${JSON.stringify(members()).slice(0, -1)},"sarif":${nested(1_000_000)}`);
  expect(body.detail).toMatch(/nested deeper than 100 levels/);
});

test('what is too large is refused with 413, packed or not', async () => {
  const texts = Array.from({ length: 51 }, () => ' '.repeat(1024 * 1024));
  const large = JSON.stringify({ ...members(), sarif: { ...logOf([]), properties: { texts } } });
  await post(413, large);
  await post(413, gzipSync(large), { 'content-encoding': 'gzip' });
  const blank = `${JSON.stringify(members()).slice(0, -1)},"sarif":{"version":${' '.repeat(17 * 1024 * 1024)}"2.1.0"}}`;
  expect((await post(413, blank)).body.detail).toMatch(/white space/);
  const bomb = gzipSync(JSON.stringify({ ...logOf([]), properties: { texts } })).toString('base64');
  await post(413, JSON.stringify({ ...members(), sarif: bomb }));
});

test.each<[string, string | Uint8Array, Record<string, string>, number]>([
  ['no JSON', '{"sarif": {', {}, 400],
  ['a log that breaks off', '{"branch": "b", "sarif": {"version": "2.1.0", "runs": [{"tool"', {}, 400],
  ['text after the end', '{} {}', {}, 400],
  ['no gzip', 'hello', { 'content-encoding': 'gzip' }, 400],
  ['an unknown encoding', '{}', { 'content-encoding': 'br' }, 415],
  ['another media type', '{}', { 'content-type': 'text/plain' }, 415],
])('a body that is %s is refused', async (_, body, headers, status) => {
  await post(status, body, headers);
});

test.each<[string, object]>([
  ['an unknown project', { repositoryIdentifier: 'acme/unknown' }],
  ['a malformed commit id', { commitId: 'main' }],
  ['a time that is ahead', { analyzedAt: new Date(Date.now() + 11 * 60_000).toISOString() }],
  ['a missing branch', { branch: undefined }],
  ['an unknown member', { extra: 1 }],
])('%s gets 400, and the log is not kept', async (_, more) => {
  const before = await bodies();
  await publish(400, logOf([]), more);
  expect(await bodies()).toBe(before);
});

test('an analysis of another tenant is not found, and a member cannot publish', async () => {
  await publish(201, logOf([]), { branch: 'foreign' });
  const [{ id }] = await history('foreign');
  await app.as(app.stranger).get(404, `${PATH}/results/${id}/sarif`);
  await app.as(app.member).get(200, `${PATH}/results/${id}/sarif`);
  await app.as(app.member).post(403, `${PATH}/results`, {});
});
