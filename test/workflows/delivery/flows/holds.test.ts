import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';

const SHARED = ['commands-v1', 'environment-locks-v1', 'approvals-v1', 'releases-v1', 'system-v1'];
const QUEUES = ['flows-v1', ...SHARED];
const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

let app: TestApp;
const runs = tracedRuns(() => app, { 'execute-release': 'true', 'rollback-release': 'true' });
const { repositoryIdentifier, reached, ran } = runs;
let worker: TestWorker;
const environments: Record<string, string> = {};

beforeAll(async () => {
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile, SERVICE_PACE: '0.01' } });
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  const configuration = { approvalPolicy: { skipApproval: true } };
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  for (const [orchestrationOrder, name] of ['uat', 'prod'].entries()) {
    const environment = { repositoryIdentifier, name, category: 'release', orchestrationOrder };
    environments[name] = (await owner.post(201, '/api/environments', environment)).id;
  }
  for (const event of ['release.held', 'release.hold_lifted', 'flow.waiting']) await insertWebhook(app, { event });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  runs.remove();
});

const setFreeze = (reason: string | undefined): Promise<Json> => {
  const promotion = reason === undefined ? null : { freezes: [{ from: inHours(-1), to: inHours(4), reason }] };
  return app.as(app.owner).patch(200, `/api/environments/${environments.uat}`, { promotion });
};
const hold = (status: number, id: string, body: object, caller: Bearer = app.member): Promise<Json> =>
  app.as(caller).post(status, `/api/release-candidates/${id}/hold`, body);
const letGo = (status: number, id: string, caller: Bearer = app.member): Promise<Json> =>
  app.as(caller).post(status, `/api/release-candidates/${id}/release-hold`);
const candidateOf = async (releaseName: string): Promise<string> =>
  (await cutRelease(app, repositoryIdentifier, releaseName)).id;
const request = (status: number, payload: object): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: {
      id: 'execute-release',
      repositoryIdentifier,
      domain: 'core',
      environmentName: 'uat',
      note: '',
      ...payload,
    },
  });
const eventsOf = async (event: string, about: string): Promise<Json[]> => {
  const rows = await app.sql<{ payload: Json }>('select payload from webhook_delivery where event = ? order by id', [
    event,
  ]);
  return rows.map(({ payload }) => payload).filter((data) => JSON.stringify(data).includes(about));
};
/** A run that waits for its window, and its candidate. */
async function waitingRun(): Promise<{ id: string; note: string; candidateId: string }> {
  await setFreeze('year end');
  const run = await runs.start({ id: 'execute-release', environmentName: 'uat' });
  await reached(run.id, 'waiting_window');
  return { ...run, candidateId: await candidateOf(run.note) };
}

test('a held candidate is refused to new runs with the reason, and is shown as held everywhere', async () => {
  const id = await candidateOf('shown');
  await app
    .as(app.application)
    .post(200, '/api/release-candidates/release-event', success(repositoryIdentifier, 'shown', 'uat'));
  const until = inHours(2);
  const { version } = await app.as(app.member).get(200, `/api/release-candidates/${id}`);
  const held = await hold(200, id, { reason: ' price list ', until });
  const shown = {
    source: 'person',
    reason: 'price list',
    until,
    by: app.member.email,
    since: expect.any(String),
    environmentName: null,
  };
  expect(held).toMatchObject({ hold: shown, version, status: 'in_progress' });

  const problem = await request(409, { releaseName: 'shown' });
  expect(problem).toMatchObject({
    code: 'held',
    detail: expect.stringMatching(/shown of domain core is held by .* until .*: price list$/),
    hold: { source: 'person', reason: 'price list', until, environmentName: null },
    errors: [{ pointer: '#/body/payload/releaseName' }],
  });
  await request(409, { releaseName: 'shown', override: { reason: 'urgent' } });
  await request(409, { id: 'request-release', releaseName: 'shown', environmentName: undefined });
  const dry = await app.as(app.owner).post(200, '/api/flows/run?dryRun=true', {
    payload: {
      id: 'execute-release',
      repositoryIdentifier,
      domain: 'core',
      releaseName: 'shown',
      environmentName: 'uat',
    },
  });
  expect(dry).toMatchObject({ wouldStart: false, refusal: { code: 'held', detail: problem.detail } });

  const member = app.as(app.member);
  const query = `repositoryIdentifier=${encodeURIComponent(repositoryIdentifier)}`;
  expect((await member.get(200, `/api/release-candidates/${id}`)).hold).toEqual(shown);
  const { items } = await member.get(200, `/api/release-candidates?${query}`);
  expect(items.find((each: Json) => each.id === id).hold).toEqual(shown);
  const byCommit = await member.get(200, `/api/release-candidates/by-commit/${'a'.repeat(40)}?${query}`);
  expect(byCommit.core.find((each: Json) => each.id === id).hold).toEqual(shown);
  const { releases } = await member.get(200, `/api/releases?${query}`);
  expect(releases.find(({ name }: Json) => name === 'shown').hold).toEqual(shown);
  for (const [path, body] of [
    ['compare', { environmentName: 'uat' }],
    ['compare-to-packages', { packages: {} }],
  ] as const)
    expect((await member.post(200, `/api/release-candidates/${id}/${path}`, body)).releaseCandidate.hold).toEqual(
      shown,
    );

  const { policyViolations } = await app
    .as(app.application)
    .post(200, '/api/release-candidates/release-event', success(repositoryIdentifier, 'shown', 'prod'));
  expect(policyViolations).toEqual([{ code: 'held', detail: expect.stringContaining('price list') }]);

  await letGo(200, id);
  expect((await member.get(200, `/api/release-candidates/${id}`)).hold).toBeNull();
  expect(await eventsOf('release.held', 'shown')).toEqual([
    expect.objectContaining({ candidateId: id, reason: 'price list', until, by: app.member.email, source: 'person' }),
  ]);
  expect(await eventsOf('release.hold_lifted', 'shown')).toEqual([
    expect.objectContaining({ candidateId: id, end: 'lifted', by: app.member.email }),
  ]);
  const trail = await app.as(app.owner).get(200, `/api/audit?entityId=${id}`);
  expect(trail.items.map(({ action }: Json) => action)).toEqual(
    expect.arrayContaining(['release_candidate.held', 'release_candidate.hold_lifted']),
  );
});

test('a hold says why, and until a time that is to come; repeated it changes nothing, and others replace it', async () => {
  const id = await candidateOf('repeated');
  for (const body of [{}, { reason: ' ' }, { reason: 'x', until: inHours(-1) }, { reason: 'x', because: 'y' }])
    await hold(400, id, body);
  const first = await hold(200, id, { reason: 'one' });
  expect((await hold(200, id, { reason: 'one' })).hold).toEqual(first.hold);
  expect(await eventsOf('release.held', 'repeated')).toHaveLength(1);
  expect((await hold(200, id, { reason: 'two' }, app.application)).hold).toMatchObject({ reason: 'two', until: null });
  expect((await letGo(200, id)).hold).toBeNull();
  await letGo(200, id);
  expect(await eventsOf('release.hold_lifted', 'repeated')).toHaveLength(1);
  await app.as(app.member).post(404, '/api/release-candidates/none/hold', { reason: 'x' });
});

test('what is aborted or finalized is neither held nor let go, and its hold has ended', async () => {
  for (const status of ['aborted', 'finalized']) {
    const id = await candidateOf(`final-${status}`);
    await hold(200, id, { reason: 'wait' });
    const moved = await app.as(app.owner).patch(200, `/api/release-candidates/${id}/status`, { status });
    expect(moved.hold).toBeNull();
    expect((await hold(409, id, { reason: 'wait' })).code).toBe('invalid_transition');
    expect((await letGo(409, id)).code).toBe('invalid_transition');
    expect(await eventsOf('release.hold_lifted', `final-${status}`)).toEqual([
      expect.objectContaining({ end: 'final' }),
    ]);
  }
});

test('a run that waits stays, shows the hold, and goes on once that is lifted', async () => {
  const { id, note, candidateId } = await waitingRun();
  const until = inHours(3);
  await hold(200, candidateId, { reason: 'price list', until });
  const waiting = await reached(id, 'waiting_hold');
  expect(waiting).toMatchObject({
    status: 'Waiting',
    nextWindowAt: until,
    waitsFor: expect.stringMatching(/is held by .*: price list$/),
  });
  const { runs: listed } = await app.as(app.member).get(200, '/api/flows/runs?status=waiting_hold');
  expect(listed.map((each: Json) => each.id)).toEqual([id]);
  expect((await eventsOf('flow.waiting', id)).at(-1)).toMatchObject({ reason: waiting.waitsFor, nextWindowAt: until });
  await setFreeze(undefined);
  await letGo(200, candidateId);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
});

test('a run whose hold is lifted waits for its window again', async () => {
  const { id, note, candidateId } = await waitingRun();
  await hold(200, candidateId, { reason: 'price list' });
  expect((await reached(id, 'waiting_hold')).nextWindowAt).toBeNull();
  await letGo(200, candidateId);
  await reached(id, 'waiting_window');
  await setFreeze(undefined);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
});

test('a hold whose time is over lets the run go, and that is announced', async () => {
  const { id, note, candidateId } = await waitingRun();
  await setFreeze(undefined);
  await hold(200, candidateId, { reason: 'until tonight', until: inHours(1) });
  await reached(id, 'waiting_hold');
  await app.sql(
    `update release_candidate set hold_ends_at = now() - interval '1 second',
      holds = jsonb_set(holds, '{0,until}', to_jsonb('2026-01-01T00:00:00.000Z'::text)) where id = ?`,
    [candidateId],
  );
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
  await eventually(
    () => eventsOf('release.hold_lifted', note),
    (events) => events.length === 1 && events[0]?.end === 'expired',
  );
  expect((await app.as(app.member).get(200, `/api/release-candidates/${candidateId}`)).hold).toBeNull();
});

test('a worker that is killed while a run waits for a hold loses nothing, and the run goes once', async () => {
  await worker.stop();
  worker = await startWorker(app, SHARED);
  const dying = await startWorkerProcess(app, ['flows-v1']);
  const { id, note, candidateId } = await waitingRun();
  await setFreeze(undefined);
  await hold(200, candidateId, { reason: 'price list' });
  await reached(id, 'waiting_hold');
  await dying.kill('SIGKILL');
  await letGo(200, candidateId);
  await worker.stop();
  worker = await startWorker(app, QUEUES);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
});

test('a run that has the lock when its release is held gives it back, and waits', async () => {
  const path = `/api/environments/${environments.uat}/locks`;
  const { ticketId } = await app.as(app.owner).post(201, path, {});
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'uat' });
  await reached(id, 'waiting_lock');
  const candidateId = await candidateOf(note);
  await hold(200, candidateId, { reason: 'price list' });
  await app.as(app.owner).delete(204, `${path}/${ticketId}`);
  await reached(id, 'waiting_hold');
  await eventually(
    () => app.as(app.owner).get(200, `/api/environments/${environments.uat}`),
    ({ lockStatus }) => !lockStatus.isLocked,
  );
  await letGo(200, candidateId);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
});

test('nothing goes back to a held release, and its child runs wait', async () => {
  const before = await runs.start({ id: 'execute-release', environmentName: 'prod' });
  await reached(before.id, 'succeeded');
  const after = await runs.start({ id: 'execute-release', environmentName: 'prod' });
  await reached(after.id, 'succeeded');
  const candidateId = await candidateOf(before.note);
  await hold(200, candidateId, { reason: 'broken' });
  const rollback = { id: 'rollback-release', environmentName: 'prod' };
  expect((await request(409, rollback)).code).toBe('held');
  await letGo(200, candidateId);
  await request(202, rollback);
});
