import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { insertApproval, insertLockTickets, insertRun, lease } from '../../../support/factories.ts';
import { engineAway } from '../../../support/launch.ts';

const repositoryIdentifier = 'acme/timelines';
const core = { repositoryIdentifier, domain: 'core' };
let app: TestApp;
let uat: string;
let candidateId: string;

const save = (releaseName: string, commitSha: string, more: object = {}) =>
  app.as(app.owner).post(201, '/api/release-candidates', {
    ...core,
    releaseName,
    commitSha,
    value: { artifacts: { app: '1.0.0' } },
    ...more,
  });
const report = (releaseName: string, deploymentStatus: string, deployedAt: string, executionId: string) =>
  app.as(app.application).post(202, '/api/release-candidates/release-event', {
    ...core,
    releaseName,
    environmentName: 'uat',
    deploymentStatus,
    deployedAt,
    executionId,
  });

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  uat = (await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'uat', category: 'release' })).id;
  await save('r0', '0000000');
  candidateId = (await save('r1', 'aaaaaaa')).id;
  await save('r1', 'aaaaaaa0');
  await save('r1', 'bbbbbbb');
  await report('r0', 'Success', '2026-03-01T10:00:00Z', 'run-0');
  await report('r1', 'Failed', '2026-03-02T10:00:00Z', 'run-1');
  await report('r1', 'Success', '2026-03-02T11:00:00Z', 'run-2');
  await owner.post(204, '/api/releases/rollback-annotation', {
    repositoryIdentifier,
    environment: 'uat',
    target: 'r0',
    rolledBackFrom: 'r1',
    rolledBackBy: 'dana@example.com',
    rolledBackAt: '2026-03-02T12:00:00Z',
  });
  const runId = await insertRun(app, {
    repositoryIdentifier,
    requestedBy: app.member.email,
    domain: 'core',
    releaseName: 'r1',
    environmentId: uat,
    status: 'failed',
    displayStatus: 'Failed',
    error: 'Lost',
    createdAt: '2026-03-02T13:00:00Z',
    endedAt: '2026-03-02T14:00:00Z',
  });
  await insertApproval(
    app,
    { repositoryIdentifier, runId, environmentId: uat, status: 'rejected', resolvedBy: app.owner.email },
    { environmentName: 'uat', occurredAt: '2026-03-02T13:30:00Z', comment: 'Not now' },
  );
  const heldAt = new Date('2026-03-02T13:40:00Z');
  await insertLockTickets(app, uat, [
    { state: 'released', ...lease(heldAt), endedAt: new Date('2026-03-02T13:50:00Z'), reason: 'Refresh', runId },
    { state: 'queued' },
  ]);
  await owner.post(200, '/api/release-candidates/abort', { ...core, releaseName: 'r1' });
});
afterAll(() => app.close());

const read = (path: string, query: Record<string, string> = {}): Promise<Json> =>
  app.as(app.member).get(200, `${path}?${new URLSearchParams(query).toString()}`);
const told = ({ items }: Json): string[] =>
  items.map(({ type, status }: Json) => (status === null ? type : `${type}: ${status}`));

test('the timeline of a candidate tells what became of it, newest first', async () => {
  const timeline = await read(`/api/release-candidates/${candidateId}/timeline`);
  expect(timeline).toMatchObject({ candidateId, isComplete: true, nextCursor: null });
  const items: Json[] = timeline.items;
  expect(told(timeline)).toEqual([
    'aborted: aborted',
    'content_changed',
    'created',
    'run_ended: failed',
    'approval: rejected',
    'run_requested',
    'rolled_back',
    'deployment: Success',
    'deployment: Failed',
  ]);
  expect(items).toMatchObject([
    { by: app.owner.email },
    { by: app.owner.email, detail: 'aaaaaaa0 became bbbbbbb' },
    { by: app.owner.email },
    { by: app.member.email, detail: 'Lost', taskType: 'execute-release', environmentName: 'uat' },
    { by: app.owner.email, detail: 'Not now', approvalId: expect.any(String) },
    { at: '2026-03-02T13:00:00.000Z', executionId: items[3]?.executionId },
    { at: '2026-03-02T12:00:00.000Z', by: 'dana@example.com', releaseName: 'r1' },
    { at: '2026-03-02T11:00:00.000Z', by: 'app:ci', executionId: 'run-2', environmentId: uat },
    { executionId: 'run-1' },
  ]);
});

test('the timeline of a candidate tells who held it, why and until when, and how that ended', async () => {
  const until = '2099-01-01T00:00:00.000Z';
  const { id } = await save('held', 'ddddddd');
  const path = `/api/release-candidates/${id}`;
  await app.as(app.member).post(200, `${path}/hold`, { reason: 'price list', until });
  await app.as(app.application).post(200, `${path}/hold`, { reason: 'still the price list' });
  await app.as(app.owner).post(200, `${path}/release-hold`);
  await app.as(app.owner).post(200, `${path}/hold`, { reason: 'an incident' });
  await app.as(app.owner).post(200, '/api/release-candidates/abort', { ...core, releaseName: 'held' });
  const timeline = await read(`${path}/timeline`);
  expect(told(timeline)).toEqual([
    'hold_lifted: final',
    'aborted: aborted',
    'held',
    'hold_lifted: lifted',
    'held',
    'held',
    'created',
  ]);
  const nowhere = { environmentId: null, environmentName: null };
  expect(timeline.items.filter(({ type }: Json) => ['held', 'hold_lifted'].includes(type))).toMatchObject([
    { by: app.owner.email, detail: 'an incident', until: null, ...nowhere },
    { by: app.owner.email, detail: 'an incident', until: null },
    { by: app.owner.email, detail: 'still the price list', until: null },
    { by: 'app:ci', detail: 'still the price list', until: null },
    { by: app.member.email, detail: 'price list', until, ...nowhere },
  ]);
  expect(told(await read(`/api/environments/${uat}/timeline`))).not.toContain('held');
});

test('the timeline of an environment tells what ran there, who locked it, and what failed', async () => {
  const timeline = await read(`/api/environments/${uat}/timeline`);
  expect(told(timeline)).toEqual([
    'run_ended: failed',
    'unlocked: released',
    'locked',
    'rolled_back',
    'deployment: Success',
    'deployment: Failed',
    'deployment: Success',
  ]);
  expect(timeline.items[2]).toMatchObject({ by: app.member.email, detail: 'Refresh', ticketId: expect.any(String) });
});

test('pages follow one another without gaps', async () => {
  for (const path of [`/api/release-candidates/${candidateId}/timeline`, `/api/environments/${uat}/timeline`]) {
    const all = await read(path);
    const items: Json[] = [];
    for (let query: Record<string, string> | undefined = { limit: '2' }; query; ) {
      const page = await read(path, query);
      expect(page.items.length).toBeLessThanOrEqual(2);
      items.push(...page.items);
      query = page.nextCursor === null ? undefined : { limit: '2', cursor: page.nextCursor };
    }
    expect(items).toEqual(all.items);
  }
  await app.as(app.member).get(400, `/api/environments/${uat}/timeline?cursor=elsewhere`);
  await app.as(app.member).get(404, `/api/environments/${candidateId}/timeline`);
});

test('a candidate from before changes were noted tells what its row knows', async () => {
  const { id } = await save('old', 'ccccccc');
  await app.as(app.owner).patch(200, `/api/release-candidates/${id}/status`, { status: 'in_progress' });
  await app.sql('delete from release_candidate_event where candidate_id = ?', [id]);
  const timeline = await read(`/api/release-candidates/${id}/timeline`);
  expect(timeline.isComplete).toBe(false);
  expect(told(timeline)).toEqual(['status_changed: in_progress', 'created']);
});
