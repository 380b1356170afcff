import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { cutRelease } from '../../../support/releases.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';
const folder = mkdtempSync(join(tmpdir(), 'quayside-approvals-'));
let app: TestApp;
let worker: TestWorker;

beforeAll(async () => {
  const commandsFile = join(folder, 'commands.json');
  writeFileSync(commandsFile, JSON.stringify({ 'execute-release': { program: '/bin/sh', args: ['-c', 'exit 0'] } }));
  app = await testApp({ env: { COMMANDS_FILE: commandsFile } });
  worker = await startWorker(app, ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1']);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'prod',
    category: 'release',
    approvalPolicy: {},
  });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'hasty',
    category: 'release',
    approvalPolicy: { expiresAfter: 'PT1S' },
  });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  rmSync(folder, { recursive: true });
});

const shown = (id: string): Promise<Json> => app.as(app.member).get(200, `/api/flows/runs/${id}`);
const ends = (id: string, rawStatus: string): Promise<Json> =>
  eventually(
    () => shown(id),
    (run) => run.rawStatus === rawStatus,
  );
/** A release that the member asks for, once it waits for its approval. */
async function release(releaseName: string, environmentName: string): Promise<{ runId: string; approvalId: string }> {
  const payload = { id: 'execute-release', repositoryIdentifier, domain: 'core', releaseName, environmentName };
  await cutRelease(app, repositoryIdentifier, releaseName);
  const { id: runId } = await app.as(app.member).post(202, '/api/flows/run', { payload });
  const [approval] = await eventually(
    () => app.sql<{ id: string }>('select id from approval where run_id = ?', [runId]),
    (rows) => rows.length === 1,
  );
  return { runId, approvalId: approval?.id ?? '' };
}
const decide = (approvalId: string, decision: string) =>
  app.as(app.owner).post(200, `/api/flows/approvals/${approvalId}/${decision}`, {});

test('a run goes on when it is approved, and ends when it is refused or nobody decides', async () => {
  const [approved, refused, overlooked] = [
    await release('r1', 'prod'),
    await release('r2', 'prod'),
    await release('r3', 'hasty'),
  ];
  await decide(approved.approvalId, 'approve');
  await decide(refused.approvalId, 'reject');
  await ends(approved.runId, 'succeeded');
  await expect(ends(refused.runId, 'rejected')).resolves.toMatchObject({ status: 'Failed' });
  await expect(ends(overlooked.runId, 'expired')).resolves.toMatchObject({ status: 'Cancelled' });
});

test('a run whose release is aborted while it waits ends with it', async () => {
  await app.as(app.owner).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r4',
    commitSha: 'abcdef0',
    value: {},
  });
  const { runId } = await release('r4', 'prod');
  await app
    .as(app.owner)
    .post(200, '/api/release-candidates/abort', { repositoryIdentifier, domain: 'core', releaseName: 'r4' });
  await expect(ends(runId, 'cancelled')).resolves.toMatchObject({
    success: { error: expect.stringContaining('changed') },
  });
});

test('the approval of a run that is cancelled while it waits goes stale in the same moment, and its subscribers are told once', async () => {
  const { runId, approvalId } = await release('r5', 'prod');
  await eventually(
    () => shown(runId),
    (run) => run.rawStatus === 'waiting_approval',
  );
  await app.as(app.member).post(200, `/api/flows/runs/${runId}/cancel`);
  await ends(runId, 'cancelled');
  await expect(app.as(app.owner).get(200, `/api/flows/approvals/${approvalId}`)).resolves.toMatchObject({
    status: 'stale',
    comment: 'The run ended without it',
  });
  // Its workflow looks, too, and finds nothing to do.
  await eventually(
    () => app.sql('select 1 from approval where id = ? and run_notified_at is not null', [approvalId]),
    (rows) => rows.length === 1,
  );
  await expect(
    app.sql(`select 1 from approval_event where approval_id = ? and status = 'stale'`, [approvalId]),
  ).resolves.toHaveLength(1);
});
