import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, type TestApp, testApp } from '../../support/app.ts';
import { addHost, type SessionStage, sessionStage } from '../../support/browser-sessions.ts';
import { engineAway } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';
import { QUAYSIDE, type QuaysideCommand, quaysideCommand } from '../../support/quayside-command.ts';
import { logOf, resultAt } from '../../support/sarif.ts';
import { codeOf } from '../../support/totp.ts';
import { eventually } from '../../support/worker.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';

let app: TestApp;
let stage: SessionStage;
let quayside: QuaysideCommand;
let folder: string;
beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  stage = await sessionStage(app);
  quayside = await quaysideCommand({
    QUAYSIDE_URL: app.url,
    QUAYSIDE_TOKEN: app.application.token,
    QUAYSIDE_REPOSITORY: stage.repositoryIdentifier,
  });
  folder = mkdtempSync(join(tmpdir(), 'quayside-folder-'));
});
afterAll(async () => {
  await app.close();
  quayside.remove();
  rmSync(folder, { recursive: true, force: true });
});

test('an analysis is published for the commit and branch of the folder, once', async () => {
  const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  git('init', '--quiet', '--initial-branch', 'topic/one');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--allow-empty', '-m', 'one');
  const file = join(folder, 'report.sarif');
  writeFileSync(file, JSON.stringify(logOf([resultAt('R1', 'a.js', 1)])));
  const publish = ['sarif', 'publish', file];
  expect((await quayside.run(0, publish, { cwd: folder })).out).toBe('published\n');
  expect((await quayside.run(0, publish, { cwd: folder })).out).toBe('the commit has results already\n');
  const query = { repositoryIdentifier: stage.repositoryIdentifier, branch: 'topic/one' };
  const shown = await app
    .as(app.member)
    .get(200, `/api/testreports/code-analysis?${new URLSearchParams(query).toString()}`);
  expect(shown).toMatchObject({
    status: 'available',
    data: { commitId: git('rev-parse', 'HEAD'), summary: { totalIssues: 1 } },
  });
  const other = ['--branch', 'other', '--commit', 'c0ffee0'];
  expect((await quayside.run(0, ['sarif', 'publish', '-', ...other], { input: JSON.stringify(logOf([])) })).out).toBe(
    'published\n',
  );
  writeFileSync(file, JSON.stringify({ version: '1.0.0' }));
  const { problem } = await quayside.run(1, [...publish, ...other, '--json'], { cwd: folder });
  expect(problem).toMatchObject({ status: 422, exitCode: 1 });
});

test('a scenario is armed for a time, and says which calls came', async () => {
  const { root, member, workspace, call, made } = mockStage(app, 'sales team');
  const name = 'release/2026.03 beta';
  await made({ name, steps: [step('POST', '/orders', 'made')] });
  await member.post(201, root, { name: 'other', steps: [step('GET', '/a', 1)] });
  const begun = Date.now();
  const { json: armed } = await quayside.run(0, ['mock', 'arm', workspace, name, '--minutes', '5', '--json']);
  expect(armed).toMatchObject({ name, status: 'armed' });
  expect(Date.parse(armed.armedUntil) - begun).toBeLessThan(6 * 60_000);
  await expect(call('POST', '/orders', { body: '{"id":1}' })).resolves.toMatchObject({ status: 200, text: 'made' });

  const verify = ['mock', 'verify', workspace, name, '--expect'];
  const orders = { match: { method: 'POST', path: '/orders' }, times: 1 };
  expect((await quayside.run(0, [...verify, JSON.stringify([orders])])).out).toBe('passed, 1 calls\n');
  const file = join(folder, 'expect.json');
  const others = { match: { method: 'PUT', path: '/orders' }, times: { atLeast: 1 } };
  writeFileSync(file, JSON.stringify({ expect: [{ ...orders, times: 2 }, others] }));
  expect((await quayside.run(1, [...verify, `@${file}`])).out.split('\n')).toEqual([
    'failed, 1 calls',
    expect.stringMatching(/^ {2}expectation 1: 1 calls match, 2 were expected$/),
    expect.stringMatching(
      /^ {2}expectation 2: 0 calls match, at least 1 were expected; the nearest is POST \/orders, which differs in \w+$/,
    ),
    '',
  ]);
  await quayside.run(1, [...verify, '-', '--json'], { input: '[{"match":{"method":7}}]' });
  await quayside.run(2, [...verify, '{']);

  const other = ['mock', 'arm', workspace, 'other'];
  const { problem } = await quayside.run(5, [...other, '--json']);
  expect(problem).toMatchObject({ code: 'locked', scenario: name });
  expect((await quayside.run(0, [...other, '--replace'])).out).toMatch(/^scenario +other\nstatus +armed\nbaseUrl /);
  await quayside.run(4, ['mock', 'arm', workspace, 'none']);
  await quayside.run(2, [...other, '--minutes', 'five']);
});

test('a session is opened for a pull request or an environment, and says how it is seen', async () => {
  const pr = String(await stage.pullRequest());
  const open = ['session', 'open'];
  const { problem } = await quayside.run(5, [...open, '--pr', pr, '--json']);
  expect(problem).toMatchObject({ code: 'flow_unavailable' });
  await addHost(app, { id: newId(), queue: `host-${newId()}` });
  const { json: session } = await quayside.run(0, [...open, '--pr', pr, '--minutes', '10', '--json']);
  expect(session).toMatchObject({ prNumber: Number(pr), createdBy: 'app:ci', status: 'provisioning' });
  expect(await stage.read(session.id)).toMatchObject({ id: session.id });

  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier: stage.repositoryIdentifier,
    name: 'UAT',
    category: 'test',
    orgUsername: 'uat@acme.example.com',
  });
  const { out } = await quayside.run(0, [...open, '--environment', 'uat']);
  expect(out).toMatch(/^session +[0-9a-f-]{36}\nstatus +provisioning\n/);
  expect(out).toMatch(/\nexpires +20/);
  await quayside.run(4, [...open, '--environment', 'nowhere']);
  await quayside.run(4, [...open, '--pr', '9999']);
  for (const wrong of [['--pr', 'one'], ['--pr', pr, '--environment', 'uat'], ['--pr', pr, '--minutes', 'ten'], []])
    await quayside.run(2, [...open, ...wrong]);
});

/** Gives somebody a second factor; the code of the step before has confirmed it. */
async function secondFactor(caller: Caller): Promise<string> {
  // A step that ends meanwhile would make its codes older than it says.
  await eventually(
    async () => (Date.now() / 1_000) % 30,
    (seconds) => seconds < 15,
  );
  const { uri } = await app.as(caller).post(201, '/api/users/me/totp');
  await app.as(caller).post(200, '/api/users/me/totp/confirm', { code: codeOf(uri, -1) });
  return uri;
}

test('who has a second factor signs in with its code, and the session is that of the command', async () => {
  const { member } = app;
  const uri = await secondFactor(member);
  const env = { QUAYSIDE_TOKEN: '' };
  const login = ['login', '--email', member.email, '--password-stdin'];
  const file = join(quayside.home, '.config/quayside/credentials.json');
  const { problem } = await quayside.run(3, [...login, '--json'], { env, input: `${member.password}\n` });
  expect(problem).toMatchObject({ status: 401, secondFactor: 'totp' });
  await quayside.run(3, [...login, '--totp-stdin'], { env, input: `${member.password}\n000000\n` });
  await quayside.run(3, [...login, '--totp-stdin'], { env, input: `wrong\n${codeOf(uri)}\n` });
  expect(existsSync(file)).toBe(false);
  const { out } = await quayside.run(0, [...login, '--totp-stdin'], {
    env,
    input: `${member.password}\n${codeOf(uri)}\n`,
  });
  expect(out).toBe(`signed in at ${app.url} as ${member.email} (member)\n`);
  expect(readFileSync(file, 'utf8')).not.toContain(member.password);
  const { json: me } = await quayside.run(0, ['whoami', '--json'], { env });
  expect(me).toMatchObject({ email: member.email, session: { aal: 'aal2' } });
  const { refreshToken } = JSON.parse(readFileSync(file, 'utf8')).services[app.url];
  expect((await quayside.run(0, ['logout'], { env })).out).toBe(`signed out at ${app.url}\n`);
  await quayside.run(3, ['whoami'], { env });
  await app.as().post(401, '/api/auth/refresh', { refresh_token: refreshToken });
});

/** Answers what a command asks on a terminal, one question after another; what it says, and its exit code. */
async function onTerminal(
  args: readonly string[],
  env: Record<string, string>,
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<{ said: string; code: number | null }> {
  const command = [process.execPath, QUAYSIDE, ...args].map((part) => `'${part}'`).join(' ');
  // Gives the command a terminal of its own (util-linux).
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH ?? '', HOME: quayside.home, ...env },
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close');
  for (const [question, answer] of answers) {
    await eventually(
      async () => said,
      (text) => text.includes(question),
    );
    child.stdin.write(`${answer}\r`);
  }
  const [code] = (await ended) as [number | null];
  return { said, code };
}

(process.platform === 'linux' ? test : test.skip)(
  'on a terminal it asks for what is missing, shows no secret, and asks for the code alone where there is a second factor',
  async () => {
    const { owner } = app;
    const uri = await secondFactor(owner);
    const env = { QUAYSIDE_URL: app.url };
    const { said, code } = await onTerminal(['login'], env, [
      ['E-mail: ', owner.email],
      ['Password: ', owner.password],
      ['Code of the second factor: ', codeOf(uri)],
    ]);
    expect(said).toContain(`signed in at ${app.url} as ${owner.email} (owner)`);
    expect(said).not.toContain(owner.password);
    expect(code).toBe(0);
    await quayside.run(0, ['logout'], { env: { QUAYSIDE_TOKEN: '' } });
  },
);
