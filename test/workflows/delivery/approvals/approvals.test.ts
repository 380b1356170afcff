import { createApprovalActivities } from '../../../../activities/delivery/approvals/approvals.activities.ts';
import { approvalsSweep } from '../../../../activities/delivery/approvals/approvals.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type Caller, type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { type GivenRun, insertMembership, insertRun, insertUser } from '../../../support/factories.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const repositoryIdentifier = 'acme/shop';
const QUEUES = ['approvals-v1'];
let app: TestApp;
let worker: TestWorker;
let activities: ReturnType<typeof activityDeps>;

beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, QUEUES);
  activities = activityDeps(app);
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await insertMembership(app, await insertUser(app.db, THIRD), 'member');
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
});

/** Another member, who does nothing. */
const THIRD = 'third@acme.example';

const open = (runId: string) => createApprovalActivities(activities.deps).openApproval({ ...app.tenantKey, runId });
const sweep = () => runSweep(activities.deps, approvalsSweep(0));

let made = 0;
async function environment(approvalPolicy: object | null, category = 'test'): Promise<string> {
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/environments', { repositoryIdentifier, name: `e${++made}`, category, approvalPolicy });
  return id;
}

/** An approval that a run of the member's waits for. */
async function request(
  approvalPolicy: object,
  run: Partial<GivenRun> = {},
  category = 'release',
): Promise<{ id: string; runId: string }> {
  const environmentId = run.environmentId ?? (await environment(approvalPolicy, category));
  const runId = await insertRun(app, { repositoryIdentifier, requestedBy: app.member.email, ...run, environmentId });
  const { approvalId, isNeeded } = await open(runId);
  expect(isNeeded).toBe(true);
  return { id: approvalId, runId };
}

const get = (id: string): Promise<Json> => app.as(app.owner).get(200, `/api/flows/approvals/${id}`);
const decide = (
  caller: Caller,
  id: string,
  decision: 'approve' | 'reject',
  status = 200,
  body: object = {},
): Promise<Json> => app.as(caller).post(status, `/api/flows/approvals/${id}/${decision}`, body);
const becomes = (id: string, status: string): Promise<Json> =>
  eventually(
    () => get(id),
    (approval) => approval.status === status,
  );
const stepsOf = ({ steps }: Json): string[] => steps.map(({ status, source }: Json) => `${status} by ${source}`);

test('a run that nothing asks of needs no approval', async () => {
  const skipping = await insertRun(app, {
    repositoryIdentifier,
    environmentId: await environment({ skipApproval: true }),
    requestedBy: app.member.email,
  });
  await expect(open(skipping)).resolves.toEqual({ approvalId: '', isNeeded: false });
  const runId = await insertRun(app, {
    repositoryIdentifier,
    requestedBy: app.member.email,
    payload: { approvalPolicy: { minApprovals: 'many' } },
  });
  await expect(open(runId)).rejects.toThrow(/approvalPolicy cannot be used: minApprovals/);
});

test('an owner approves; run, trail and subscribers know by whom and why', async () => {
  await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'approved',
    event: 'approval.approved',
    config: { url: 'http://127.0.0.1:9/' },
  });
  const { id, runId } = await request({});
  await expect(open(runId)).resolves.toEqual({ approvalId: id, isNeeded: true });
  await expect(get(id)).resolves.toMatchObject({
    status: 'requested',
    executionId: runId,
    approvers: [],
    minApprovals: 1,
    allowSelfApproval: false,
    requestedBy: app.member.email,
  });
  await decide(app.member, id, 'approve', 403);
  const approved = await decide(app.owner, id, 'approve', 200, { comment: 'checked in staging' });
  expect(approved).toMatchObject({ status: 'approved', resolvedBy: app.owner.email, comment: 'checked in staging' });
  await expect(get(id).then(stepsOf)).resolves.toEqual(['requested by run', 'approved by vote']);
  const [delivery] = await app.sql<{ payload: object }>(
    `select payload from webhook_delivery where event = 'approval.approved' and payload->>'id' = ?`,
    [id],
  );
  expect(delivery?.payload).toMatchObject({
    executionId: runId,
    status: 'approved',
    resolvedBy: app.owner.email,
    requestedBy: app.member.email,
  });
  const trail = await app.sql<{ action: string; actor: Json }>(
    'select action, actor from audit_entry where entity_id = ? order by sequence',
    [id],
  );
  expect(trail.map(({ action, actor }) => `${action} ${actor.email}`)).toEqual([
    `approval.requested ${app.member.email}`,
    `approval.approved ${app.owner.email}`,
  ]);
  const [told] = await eventually(
    () => app.sql<{ run_notified_at: string | null }>('select run_notified_at from approval where id = ?', [id]),
    ([row]) => row?.run_notified_at != null,
  );
  expect(told).toBeDefined();

  await expect(decide(app.owner, id, 'approve')).resolves.toMatchObject({ comment: 'checked in staging' });
  await decide(app.owner, id, 'reject', 409);
});

test('two of the named people are needed, and who asked is none of them', async () => {
  const team = 'owners';
  const [slug] = await app.sql<{ slug: string }>('select slug from team where tenant_id = ?', [app.tenant.id]);
  const { id } = await request({ approvers: [app.member.email, THIRD, slug?.slug ?? team], minApprovals: 2 });
  await expect(decide(app.member, id, 'approve', 403)).resolves.toMatchObject({
    detail: expect.stringContaining('may not give it'),
  });
  await expect(decide(app.owner, id, 'approve')).resolves.toMatchObject({ status: 'requested' });
  await expect(decide(app.owner, id, 'approve')).resolves.toMatchObject({ status: 'requested' });
  await expect(get(id).then(stepsOf)).resolves.toEqual(['requested by run', 'requested by vote']);
  await expect(decide(app.member, id, 'reject')).resolves.toMatchObject({
    status: 'rejected',
    resolvedBy: app.member.email,
  });
});

test('where it is allowed, two people approve, one of whom asked', async () => {
  const { id } = await request({
    approvers: [app.member.email, app.owner.email],
    minApprovals: 2,
    allowSelfApproval: true,
  });
  await expect(decide(app.member, id, 'approve')).resolves.toMatchObject({ status: 'requested' });
  await expect(decide(app.owner, id, 'approve')).resolves.toMatchObject({
    status: 'approved',
    resolvedBy: app.owner.email,
  });
});

test('decided twice at once: one decision counts, the other learns that it came late', async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await request({ approvers: [app.member.email, app.owner.email], allowSelfApproval: true });
    const answers = await Promise.all([
      app.as(app.owner).send('POST', `/api/flows/approvals/${id}/approve`, { body: {} }),
      app.as(app.member).send('POST', `/api/flows/approvals/${id}/reject`, { body: {} }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const { status } = await get(id);
    expect(status).toBe(answers[0]?.status === 200 ? 'approved' : 'rejected');
    const settled = await app.sql(`select 1 from approval_event where approval_id = ? and status <> 'requested'`, [id]);
    expect(settled).toHaveLength(1);
  }
});

test('the same person twice at once has decided once', async () => {
  const { id } = await request({});
  const answers = await Promise.all([1, 2, 3].map(() => decide(app.owner, id, 'approve')));
  expect(answers.map(({ status }) => status)).toEqual(['approved', 'approved', 'approved']);
  expect(stepsOf(await get(id))).toEqual(['requested by run', 'approved by vote']);
});

test('nobody decides in time: it expires, and a late approval is refused', async () => {
  const { id } = await request({ expiresAfter: 'PT1S' });
  await expect(becomes(id, 'expired')).resolves.toMatchObject({ resolvedBy: 'system:approval' });
  await expect(decide(app.owner, id, 'approve', 409)).resolves.toMatchObject({
    code: 'invalid_transition',
    detail: expect.stringContaining('expired'),
  });
  expect(stepsOf(await get(id))).toEqual(['requested by run', 'expired by timer']);
});

test('a worker outside says that it has expired; said again, or late, nothing happens', async () => {
  const { id, runId } = await request({});
  const pipeline = app.as(app.application);
  await pipeline.post(204, `/api/flows/internal/approvals/${runId}/expire`);
  await expect(get(id)).resolves.toMatchObject({ status: 'expired', resolvedBy: 'app:ci' });
  await pipeline.post(204, `/api/flows/internal/approvals/${runId}/expire`);
  const approved = await request({});
  await decide(app.owner, approved.id, 'approve');
  await pipeline.post(204, `/api/flows/internal/approvals/${approved.runId}/expire`);
  await expect(get(approved.id)).resolves.toMatchObject({ status: 'approved' });
});

test('what changes or ends under an approval makes it stale', async () => {
  const owner = app.as(app.owner);
  const candidate = async (releaseName: string) => {
    const name = { repositoryIdentifier, domain: 'core', releaseName };
    await owner.post(201, '/api/release-candidates', {
      ...name,
      commitSha: 'abcdef0',
      value: { artifacts: { app: '1.0.0' }, metadata: {} },
    });
    const { id, runId } = await request({}, { domain: 'core', releaseName });
    return { name, id, runId };
  };
  const untouched = await candidate('r0');
  await owner.post(201, '/api/release-candidates', {
    ...untouched.name,
    commitSha: 'abcdef0',
    value: { artifacts: { app: '1.0.0' }, metadata: { note: 1 } },
  });
  const saved = await candidate('r1');
  await owner.post(201, '/api/release-candidates', {
    ...saved.name,
    commitSha: 'abcdef0',
    value: { artifacts: { app: '2.0.0' } },
  });
  const overridden = await candidate('r2');
  await owner.patch(200, '/api/release-candidates/update-packages', {
    ...overridden.name,
    versionOverrides: { app: '3.0.0' },
  });
  const aborted = await candidate('r3');
  await owner.post(200, '/api/release-candidates/abort', aborted.name);
  for (const { id } of [saved, overridden, aborted]) {
    await expect(get(id)).resolves.toMatchObject({ status: 'stale', resolvedBy: app.owner.email });
    await decide(app.owner, id, 'approve', 409);
  }
  await expect(get(aborted.id)).resolves.toMatchObject({ comment: 'The release candidate was aborted' });
  await expect(get(untouched.id)).resolves.toMatchObject({ status: 'requested' });
  // Nothing sweeps here: the workflows of the approvals are told at once.
  await eventually(
    () =>
      app.sql('select 1 from approval where id in (?, ?, ?) and run_notified_at is not null', [
        saved.id,
        overridden.id,
        aborted.id,
      ]),
    (rows) => rows.length === 3,
  );
});

test('a newer request for the same release in the same environment replaces the older', async () => {
  const environmentId = await environment({}, 'release');
  const release = { domain: 'core', releaseName: 'r9', environmentId };
  const older = await request({}, release);
  const elsewhere = await request({}, { ...release, environmentId: await environment({}, 'release') });
  const newer = await request({}, release);
  await expect(get(older.id)).resolves.toMatchObject({ status: 'stale', comment: `Replaced by run ${newer.runId}` });
  await eventually(
    () => app.sql('select 1 from approval where id = ? and run_notified_at is not null', [older.id]),
    (rows) => rows.length === 1,
  );
  await expect(get(elsewhere.id)).resolves.toMatchObject({ status: 'requested' });
  await expect(get(newer.id)).resolves.toMatchObject({ status: 'requested' });
});

test('an approval whose run has ended goes stale', async () => {
  const { id, runId } = await request({});
  await app.sql(
    `update flow_run set status = 'cancelled', display_status = 'Cancelled', ended_at = now() where id = ?`,
    [runId],
  );
  await sweep();
  await expect(becomes(id, 'stale')).resolves.toMatchObject({ comment: 'The run ended without it' });
});

test('a list shows what waits, and what waits for me', async () => {
  const forOwners = await request({});
  const forMember = await request({ approvers: [app.member.email], allowSelfApproval: true });
  const ownRequest = await request({ approvers: [app.member.email, THIRD] });
  const ids = async (caller: Caller, query: string): Promise<string[]> => {
    const { items } = await app.as(caller).get(200, `/api/flows/approvals?limit=200${query}`);
    return items.map(({ id }: Json) => id);
  };
  expect(await ids(app.member, '')).toEqual(expect.arrayContaining([forOwners.id, forMember.id, ownRequest.id]));
  const mine = await ids(app.member, '&mine=true');
  expect([mine.includes(forMember.id), mine.includes(forOwners.id), mine.includes(ownRequest.id)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(await ids(app.owner, '&mine=true')).toContain(forOwners.id);
  const oldest = await ids(app.owner, '&sort=requestedAt');
  expect(oldest.toReversed()).toEqual(await ids(app.owner, ''));
  const seenBy = async (caller: Caller, id: string) => {
    const { items } = await app.as(caller).get(200, '/api/flows/approvals?limit=200');
    return items.find((item: Json) => item.id === id).canDecide;
  };
  expect(await seenBy(app.member, forMember.id)).toEqual({ allowed: true, reason: null });
  expect(await seenBy(app.member, forOwners.id)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('Only approvers'),
  });
  expect(await seenBy(app.member, ownRequest.id)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('Who asked'),
  });
  const { items: weighed } = await app.as(app.member).get(200, '/api/flows/approvals?includeChanges=true&limit=5');
  expect(weighed).toHaveLength(Math.min(5, oldest.length));
  for (const { changes } of weighed) expect(changes).not.toBeUndefined();
  await app.as(app.member).get(400, '/api/flows/approvals?includeChanges=true&limit=51');
  const asked = await app.as(app.application).get(200, `/api/flows/approvals/${forMember.id}`);
  expect(asked).toMatchObject({ votes: [], canDecide: { allowed: false, reason: 'Only people decide' } });
  await decide(app.owner, forOwners.id, 'reject');
  expect(await ids(app.owner, '')).not.toContain(forOwners.id);
  expect(await ids(app.owner, `&status=rejected&repositoryIdentifier=${repositoryIdentifier}`)).toContain(forOwners.id);
  await app.as(app.owner).get(400, '/api/flows/approvals?status=lost');
});

test('while there is no worker no approval is lost: one expires in the meantime, one is approved afterwards', async () => {
  const waiting = await request({});
  const expiring = await request({ expiresAfter: 'PT2S' });
  await worker.stop();
  await expect(decide(app.owner, waiting.id, 'approve', 503)).resolves.toMatchObject({ code: 'unavailable' });
  worker = await startWorker(app, QUEUES);
  await becomes(expiring.id, 'expired');
  await expect(decide(app.owner, waiting.id, 'approve')).resolves.toMatchObject({ status: 'approved' });
});
