import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestApp, testApp } from '../../../support/app.ts';
import { SESSIONS_PATH as PATH, type SessionStage, sessionStage } from '../../../support/browser-sessions.ts';
import type { Json } from '../../../support/client.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-session-commands-'));
const commandsFile = join(folder, 'commands.json');
/** Keeps its token for the test, and ends as the test says. */
const CARRY_OUT = `
  const fs = require('fs');
  const session = process.argv[1] + '/' + process.argv[2];
  fs.writeFileSync(session + '.draft', process.env.QUAYSIDE_TOKEN + ' ' + process.pid);
  fs.renameSync(session + '.draft', session);
  setInterval(() => {
    if (fs.existsSync(session + '.succeed')) process.exit(0);
    if (fs.existsSync(session + '.fail')) process.exit(1);
  }, 50);`;

let app: TestApp;
let stage: SessionStage;
let worker: TestWorker;
beforeAll(async () => {
  const program = { program: process.execPath, args: ['-e', CARRY_OUT, folder, '{payload.sessionId}'] };
  writeFileSync(commandsFile, JSON.stringify({ 'record-session': program }));
  app = await testApp({ env: { COMMANDS_FILE: commandsFile } });
  worker = await startWorker(app, ['flows-v1', 'commands-v1', 'environment-locks-v1', 'crm-v1', 'system-v1']);
  stage = await sessionStage(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A session whose command runs, with the token that it was given. */
async function executed(): Promise<Json> {
  const session = await stage.record(await stage.pullRequest());
  const kept = join(folder, session.id);
  await eventually(
    async () => existsSync(kept),
    (isRunning) => isRunning,
  );
  const [token = '', pid] = readFileSync(kept, 'utf8').split(' ');
  return { ...session, token, pid: Number(pid) };
}
const report = (token: string, id: string, body: object, status = 200): Promise<Json> =>
  app.as({ token }).patch(status, `${PATH}/${id}`, body);
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('the command reports on the session of its run alone, and its success ends the session', async () => {
  const [session, other] = [await executed(), await executed()];
  expect(session).toMatchObject({ provider: 'external', status: 'provisioning' });
  const seen = { providerSessionId: 'b7', liveViewUrl: 'https://browsers.example/b7' };
  await expect(report(session.token, session.id, { status: 'live', ...seen })).resolves.toMatchObject({
    status: 'live',
    ...seen,
  });
  await report(session.token, other.id, { status: 'live' }, 403);
  await app.as({ token: session.token }).post(403, `${PATH}/${session.id}/stop`);
  await expect(stage.read(other.id)).resolves.toMatchObject({ status: 'provisioning' });

  for (const { id } of [session, other]) writeFileSync(join(folder, `${id}.succeed`), '');
  await expect(stage.becomes(session.id, 'ended')).resolves.toMatchObject({ statusReason: 'browser_closed' });
  await stage.becomes(other.id, 'ended');
  await eventually(
    () => stage.run(session.flowRunId),
    ({ status }) => status === 'Completed',
  );
  // Its token ended with the run.
  await report(session.token, session.id, { providerSessionId: 'b8' }, 401);
});

test('a command that fails fails the session of its run', async () => {
  const { id, flowRunId, token } = await executed();
  await report(token, id, { status: 'live' });
  writeFileSync(join(folder, `${id}.fail`), '');
  await expect(stage.becomes(id, 'error')).resolves.toMatchObject({ statusReason: 'run_failed' });
  await eventually(
    () => stage.run(flowRunId),
    ({ status }) => status === 'Failed',
  );
});

test('the cancellation of the run ends its command and its session', async () => {
  const { id, flowRunId, token, pid } = await executed();
  await report(token, id, { status: 'live' });
  expect(isRunning(pid)).toBe(true);
  await app.as(app.owner).post(200, `/api/flows/runs/${flowRunId}/cancel`);
  await expect(stage.becomes(id, 'ended')).resolves.toMatchObject({ statusReason: 'cancelled' });
  await eventually(
    async () => isRunning(pid),
    (is) => !is,
  );
});
