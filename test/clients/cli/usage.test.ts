import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonical } from '../../../clients/cli/src/keys.ts';
import { repositoryOfRemote } from '../../../clients/cli/src/pipeline.ts';
import { type Got, sendJson, smallServer, type SmallServer } from '../../support/clients.ts';
import { type QuaysideCommand, quaysideCommand } from '../../support/quayside-command.ts';

let server: SmallServer;
let quayside: QuaysideCommand;
let answer: (got: Got, response: ServerResponse) => void;
let folder: string;
beforeAll(async () => {
  server = await smallServer((got, response) => answer(got, response));
  quayside = await quaysideCommand({ QUAYSIDE_URL: server.url, QUAYSIDE_TOKEN: 'qs_app_1' });
  folder = mkdtempSync(join(tmpdir(), 'quayside-cli-'));
});
afterAll(async () => {
  await server.close();
  quayside.remove();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  server.got.length = 0;
  answer = (_, response) => sendJson(response, 200, { message: 'done', policyViolations: [] });
});

const REPORT = ['deployment', 'report', '2026.07', '--domain', 'core', '--environment', 'uat', '--status', 'Success'];
const inRepository = { QUAYSIDE_REPOSITORY: 'acme/shop' };
const problem = (status: number, code: string, headers: Record<string, string> = {}) => {
  answer = (_, response) => sendJson(response, status, { code, status, detail: `is ${code}` }, headers);
};

test('wrong usage ends with 2 before anything is asked', async () => {
  for (const args of [
    ['nothing'],
    ['deployment', 'report', '2026.07'],
    [...REPORT.slice(0, -1), 'Sucess'],
    [...REPORT, '--timeout', 'soon'],
    [...REPORT, '--package', 'shop'],
    ['lock', 'run', 'uat'],
    ['session', 'open'],
    ['api', 'FETCH', '/api/projects'],
    ['run', 'start', 'build', '--payload', '{'],
    ['run', 'start', 'build', '--set', 'nothing'],
  ])
    await quayside.run(2, args, { env: inRepository });
  // Nothing names a repository.
  const { problem: printed, out } = await quayside.run(2, [...REPORT, '--json']);
  expect(printed).toMatchObject({ code: 'usage', exitCode: 2 });
  expect(out).toBe('');
  await quayside.run(2, REPORT, { env: { QUAYSIDE_URL: '' } });
  expect(server.got).toEqual([]);
});

test.each([
  [1, 400, 'invalid_request'],
  [3, 401, 'unauthenticated'],
  [3, 403, 'forbidden'],
  [4, 404, 'not_found'],
  [5, 409, 'locked'],
  [5, 412, 'precondition_failed'],
  [1, 413, 'payload_too_large'],
  [1, 422, 'unprocessable'],
  [5, 423, 'locked'],
  [1, 500, 'internal'],
  [7, 502, 'upstream_error'],
  [7, 504, 'upstream_timeout'],
])('ends with %d after a reply %d', async (exitCode, status, code) => {
  problem(status, code);
  const { err, problem: printed } = await quayside.run(exitCode, ['api', 'GET', '/api/projects', '--json']);
  expect(err.trim().split('\n')).toHaveLength(1);
  expect(printed).toEqual({ code, status, detail: `is ${code}`, exitCode });
});

test('ends with 7 where the service is busy or away, and with 6 when its time is over', async () => {
  problem(429, 'rate_limited', { 'retry-after': '0' });
  await quayside.run(7, ['api', 'GET', '/api/projects']);
  expect(server.got).toHaveLength(5);
  await quayside.run(7, ['api', 'DELETE', '/api/projects/a', '--url', 'http://127.0.0.1:9']);
  answer = () => undefined;
  const { problem: printed } = await quayside.run(6, ['api', 'GET', '/api/projects', '--timeout', '0.5s', '--json']);
  expect(printed.code).toBe('timed_out');
});

test('ends with 130 and 143 when it is interrupted', async () => {
  answer = (got) => waiting.splice(0).forEach((start) => got && start());
  const waiting: (() => void)[] = [];
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const asked = new Promise<void>((resolve) => waiting.push(resolve));
    const { child, ended } = quayside.start(['api', 'GET', '/api/projects']);
    await asked;
    child.kill(signal);
    expect((await ended).code).toBe(code);
  }
});

test('the repository is named by option, by variable, by the pipeline, or by the folder', async () => {
  const azure = { SYSTEM_TEAMPROJECT: 'shop', BUILD_REPOSITORY_NAME: 'web' };
  execFileSync('git', ['init', '--quiet', folder]);
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'git@github.com:folder/shop.git']);
  const cases: [string, string[], Record<string, string>][] = [
    ['option/shop', ['--repository', 'option/shop'], inRepository],
    ['acme/shop', [], { ...inRepository, GITHUB_REPOSITORY: 'github/shop' }],
    ['github/shop', [], { GITHUB_REPOSITORY: 'github/shop' }],
    ['shop/web', [], azure],
    ['acme/shop/web', [], { ...azure, SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/' }],
    ['gitlab/group/shop', [], { CI_PROJECT_PATH: 'gitlab/group/shop' }],
    ['folder/shop', [], {}],
  ];
  for (const [repositoryIdentifier, more, env] of cases) {
    await quayside.run(0, [...REPORT, ...more], { env, cwd: folder });
    expect(JSON.parse(server.got.at(-1)?.body ?? '')).toMatchObject({ repositoryIdentifier });
  }
});

test.each([
  ['https://github.com/acme/shop.git', 'acme/shop'],
  ['ssh://git@git.acme.test:2222/acme/shop', 'acme/shop'],
  ['git@gitlab.com:acme/group/shop.git', 'acme/group/shop'],
  ['https://acme@dev.azure.com/acme/shop%20floor/_git/web', 'acme/shop floor/web'],
  ['git@ssh.dev.azure.com:v3/acme/shop/web', 'acme/shop/web'],
  ['/srv/git/shop.git', undefined],
])('the remote %s is of %s', (remote, identifier) => {
  expect(repositoryOfRemote(remote)).toBe(identifier);
});

const keyOf = async (args: string[], env: Record<string, string> = {}): Promise<unknown> => {
  await quayside.run(0, args, { env: { ...inRepository, ...env } });
  return server.got.at(-1)?.headers['idempotency-key'];
};

test('a key is the same for command, body, run and attempt, and else of one start alone', async () => {
  const github = { GITHUB_RUN_ID: '71', GITHUB_RUN_ATTEMPT: '1', GITHUB_JOB: 'deploy' };
  const key = await keyOf(REPORT, github);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(await keyOf(REPORT, github)).toBe(key);
  const others = [
    await keyOf([...REPORT, '--package', 'shop=1.4.0'], github),
    await keyOf(REPORT, { ...github, GITHUB_RUN_ATTEMPT: '2' }),
    await keyOf(REPORT, { ...github, GITHUB_JOB: 'again' }),
    await keyOf([...REPORT, '--again'], github),
    await keyOf(REPORT),
    await keyOf(REPORT),
    await keyOf(REPORT, { BUILD_BUILDID: '71', SYSTEM_JOBATTEMPT: '1', SYSTEM_JOBID: 'j' }),
    await keyOf(REPORT, { CI_PIPELINE_ID: '71', CI_JOB_ID: '5' }),
  ];
  expect(new Set([key, ...others]).size).toBe(others.length + 1);
  const publish = ['sarif', 'publish', join(quayside.home, 'a.sarif'), '--branch', 'main', '--commit', 'c0ffee'];
  writeFileSync(publish[2] ?? '', '{}');
  const sent = [await keyOf(publish, github), server.got.at(-1)?.body];
  expect([await keyOf(publish, github), server.got.at(-1)?.body]).toEqual(sent);
  expect(canonical({ b: 1, a: [{ d: undefined, c: null }] })).toBe('{"a":[{"c":null}],"b":1}');
});

test('a deployment belongs to the run that is named, else to that of the pipeline without its attempt', async () => {
  const github = { GITHUB_RUN_ID: '71', GITHUB_RUN_ATTEMPT: '2', GITHUB_JOB: 'deploy' };
  const executionOf = async (args: string[], env: Record<string, string>) => {
    await quayside.run(0, args, { env: { ...inRepository, ...env } });
    return JSON.parse(server.got.at(-1)?.body ?? '').executionId as unknown;
  };
  expect(await executionOf([...REPORT, '--execution', 'e1'], { ...github, QUAYSIDE_RUN_ID: 'r1' })).toBe('e1');
  expect(await executionOf(REPORT, { ...github, QUAYSIDE_RUN_ID: 'r1' })).toBe('r1');
  expect(await executionOf(REPORT, github)).toBe('71');
  expect(await executionOf(REPORT, {})).toBeUndefined();
});

test('a dry run that the service does not know is refused before it would be a real one', async () => {
  answer = (got, response) => {
    if (got.url === '/openapi.json') sendJson(response, 200, { paths: { '/api/flows/run': { post: {} } } });
    else sendJson(response, 202, { id: '1' });
  };
  for (const args of [
    [...REPORT, '--dry-run'],
    ['release', 'request', '2026.07', '--domain', 'core', '--dry-run'],
    ['run', 'start', 'build', '--dry-run'],
  ])
    await quayside.run(2, args, { env: inRepository });
  expect(server.got.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(3).fill('GET /openapi.json'));
});

test('what a service of an earlier version lacks is said in words', async () => {
  answer = (got, response) => {
    if (got.url === '/openapi.json') sendJson(response, 200, { paths: {} });
    else sendJson(response, 404, { code: 'not_found', status: 404, detail: 'Not found' });
  };
  for (const args of [['attention'], ['release', 'where'], ['changes']]) {
    const { problem: printed } = await quayside.run(4, [...args, '--json'], { env: inRepository });
    expect(printed.detail).toMatch(/^This service does not know .* yet: it is of an earlier version$/);
  }
});

test('the credential is kept for its owner alone, is not sent elsewhere, and gives way to the variable', async () => {
  const file = join(quayside.home, '.config/quayside/credentials.json');
  answer = (_, response) => sendJson(response, 200, { email: 'app:ci', role: 'application', teams: [] });
  const signedOut = { QUAYSIDE_TOKEN: '', QUAYSIDE_URL: '' };
  await quayside.run(2, ['login', '--url', server.url], { env: signedOut });
  await quayside.run(0, ['login', '--url', server.url, '--token-stdin'], { env: signedOut, input: 'qs_app_kept\n' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const used = async (env: Record<string, string>, args: string[] = []) => {
    await quayside.run(0, ['whoami', ...args], { env });
    return server.got.at(-1)?.headers.authorization;
  };
  expect(await used(signedOut)).toBe('Bearer qs_app_kept');
  expect(await used({ QUAYSIDE_URL: '' })).toBe('Bearer qs_app_1');
  const elsewhere = await smallServer((_, response) => sendJson(response, 200, { email: '', role: '', teams: [] }));
  await quayside.run(0, ['whoami', '--url', elsewhere.url], { env: signedOut });
  expect(elsewhere.got[0]?.headers.authorization).toBeUndefined();
  await elsewhere.close();
  await quayside.run(0, ['logout'], { env: signedOut });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ services: {} });
});

const accessToken = (seconds: number) =>
  `h.${Buffer.from(JSON.stringify({ exp: Date.now() / 1_000 + seconds })).toString('base64url')}.s`;

test('a session that ends is renewed by one of the processes that need it', async () => {
  const file = join(quayside.home, '.config/quayside/credentials.json');
  const signed = { accessToken: accessToken(5), refreshToken: 'once', email: 'a@example.com' };
  writeFileSync(file, JSON.stringify({ current: server.url, services: { [server.url]: signed } }), { mode: 0o600 });
  const renewed = accessToken(900);
  answer = (got, response) => {
    if (got.url !== '/api/auth/refresh') return sendJson(response, 200, { email: '', role: '', teams: [] });
    const isFirst = server.got.filter(({ url }) => url === got.url).length === 1;
    if (isFirst) return sendJson(response, 200, { access_token: renewed, refresh_token: 'next' });
    return sendJson(response, 401, { code: 'unauthenticated', status: 401, detail: 'used twice' });
  };
  const env = { QUAYSIDE_TOKEN: '', QUAYSIDE_URL: '' };
  await Promise.all(Array.from({ length: 4 }, () => quayside.run(0, ['whoami'], { env })));
  const asked = server.got.filter(({ url }) => url === '/api/users/me');
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${renewed}`));
  expect(JSON.parse(readFileSync(file, 'utf8')).services[server.url]).toEqual({
    ...signed,
    accessToken: renewed,
    refreshToken: 'next',
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // A session that was ended elsewhere is said so.
  writeFileSync(file, JSON.stringify({ current: server.url, services: { [server.url]: signed } }));
  const { err } = await quayside.run(3, ['whoami'], { env });
  expect(err).toContain('quayside login');
  problem(500, 'internal');
  expect((await quayside.run(1, ['logout'], { env })).err).toContain('goes on: is internal');
});
