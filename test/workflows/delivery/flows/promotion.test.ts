import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1', 'releases-v1'];
const HOUR_MS = 3_600_000;

let app: TestApp;
const runs = tracedRuns(() => app, { 'execute-release': 'true' });
const { repositoryIdentifier, shown, reached, ran } = runs;
let worker: TestWorker;
const temporal = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
const environments: Record<string, string> = {};

beforeAll(async () => {
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile } });
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  for (const [name, more] of [
    ['uat', { orchestrationOrder: 1 }],
    ['prod', { orchestrationOrder: 2, branch: 'main' }],
    ['hotfix', { orchestrationOrder: 3, branch: 'hotfix/*' }],
    ['guarded', { category: 'test', approvalPolicy: { allowSelfApproval: true } }],
  ] as const) {
    const environment = { repositoryIdentifier, name, category: 'release', ...more };
    environments[name] = (await owner.post(201, '/api/environments', environment)).id;
  }
  for (const event of ['flow.waiting', 'promotion.overridden']) await insertWebhook(app, { event });
});
afterAll(async () => {
  await worker.stop();
  await temporal.connection.close();
  await app.close();
  runs.remove();
});

const request = (status: number, payload: object, caller: Bearer = app.owner): Promise<Json> =>
  app.as(caller).post(status, '/api/flows/run', {
    payload: { id: 'execute-release', repositoryIdentifier, domain: 'core', note: 'refused', ...payload },
  });
const setPolicy = (name: string, promotion: object | null): Promise<Json> =>
  app.as(app.owner).patch(200, `/api/environments/${environments[name]}`, { promotion });
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const frozen = (until: string, reason = 'year end') => ({ freezes: [{ from: inHours(-1), to: until, reason }] });
const approve = async (runId: string): Promise<void> => {
  await reached(runId, 'waiting_approval');
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals');
  const { id } = items.find(({ executionId }: Json) => executionId === runId);
  await app.as(app.owner).post(200, `/api/flows/approvals/${id}/approve`, {});
};
const deployed = (releaseName: string, environmentName: string, more: object = {}): Promise<Json> =>
  app
    .as(app.application)
    .post(
      200,
      '/api/release-candidates/release-event',
      success(repositoryIdentifier, releaseName, environmentName, more),
    );
const eventsOf = async (event: string, runId: string): Promise<Json[]> => {
  const rows = await app.sql<{ payload: Json }>('select payload from webhook_delivery where event = ? order by id', [
    event,
  ]);
  return rows.map(({ payload }) => payload).filter((data) => JSON.stringify(data).includes(runId));
};
const workflowOf = async (runId: string) => temporal.workflow.getHandle(await workflowIdOfRun(app, runId));
const candidateOf = async (releaseName: string): Promise<Json> =>
  cutRelease(app, repositoryIdentifier, releaseName, {});

describe('what cannot go is refused before a run is accepted', () => {
  const refuse = async (status: number, payload: object, pointer: string, detail: RegExp): Promise<Json> => {
    const problem = await request(status, payload);
    expect(problem.errors).toEqual([{ pointer: `#/body/payload/${pointer}`, detail: expect.stringMatching(detail) }]);
    return problem;
  };

  test('a release candidate that does not exist in the domain', async () => {
    await candidateOf('exists');
    const unknown = { releaseName: 'no-such', environmentName: 'uat' };
    await refuse(404, unknown, 'releaseName', /no-such of domain core was not found/);
    await refuse(404, { ...unknown, releaseName: 'exists', domain: 'sales' }, 'releaseName', /exists of domain sales/);
    await refuse(404, { ...unknown, id: 'request-release' }, 'releaseName', /not found/);
  });

  test('one that was aborted', async () => {
    await candidateOf('aborted');
    await app
      .as(app.owner)
      .post(200, '/api/release-candidates/abort', { repositoryIdentifier, domain: 'core', releaseName: 'aborted' });
    await refuse(409, { releaseName: 'aborted', environmentName: 'uat' }, 'releaseName', /was aborted/);
    await refuse(409, { releaseName: 'aborted', id: 'request-release' }, 'releaseName', /was aborted/);
    const override = { reason: 'urgent' };
    await refuse(409, { releaseName: 'aborted', environmentName: 'uat', override }, 'releaseName', /was aborted/);
  });

  test('one whose branch the environment does not take', async () => {
    await cutRelease(app, repositoryIdentifier, 'branched', { branch: 'feature/x' });
    const release = { releaseName: 'branched' };
    await refuse(
      409,
      { ...release, environmentName: 'prod' },
      'environmentName',
      /feature\/x; prod takes .* main only/,
    );
    const named = { ...release, id: 'request-release', environmentNames: ['uat', 'prod'] };
    await refuse(409, named, 'environmentNames', /prod takes/);
    await refuse(400, { ...named, environmentNames: ['uat', 'guarded'] }, 'environmentNames/1', /guarded is not/);
    await request(409, { ...release, environmentName: 'prod', override: { reason: 'urgent' } });
  });

  test('one that must be deployed elsewhere first, or for longer, and when that will be', async () => {
    await candidateOf('soaked');
    await setPolicy('prod', { after: ['uat'], soakMinutes: 60 });
    const release = { releaseName: 'soaked', environmentName: 'prod' };
    const only = { releaseName: 'soaked', id: 'request-release', environmentNames: ['prod'] };
    expect(await refuse(409, release, 'environmentName', /not deployed to uat/)).toMatchObject({ nextWindowAt: null });
    await refuse(409, only, 'environmentNames', /nor is it by an earlier stage/);
    // It counts from when the service knows it, whatever is claimed.
    await deployed('soaked', 'uat', { deployedAt: inHours(-2) });
    const soaking = await refuse(409, release, 'environmentName', /to uat for 60 min/);
    const [{ at } = {}] = await app.sql<{ at: string }>(
      `select created_at as at from release_deployment where release_name = 'soaked'`,
    );
    expect(Date.parse(soaking.nextWindowAt)).toBe(new Date(at ?? '').getTime() + HOUR_MS);
    await app.sql(
      `update release_deployment set created_at = created_at - interval '1 hour' where release_name = 'soaked'`,
    );
    const { id } = await request(202, release);
    await reached(id, 'succeeded');
    await candidateOf('newer');
    await deployed('newer', 'uat', { deployedAt: inHours(-0.9), packages: { other: '1' } });
    expect(await refuse(409, release, 'environmentName', /was replaced in uat/)).toMatchObject({ nextWindowAt: null });
    await refuse(409, only, 'environmentNames', /was replaced in uat, nor is it by an earlier stage/);
    await setPolicy('prod', null);
  });
});

test('a run of a frozen environment waits, shows until when, and goes on when the freeze is lifted', async () => {
  const until = inHours(48);
  await setPolicy('uat', frozen(until));
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'uat' });
  const waiting = await reached(id, 'waiting_window');
  expect(waiting).toMatchObject({
    status: 'Waiting',
    nextWindowAt: until,
    waitsFor: expect.stringMatching(/^uat is frozen until .*: year end$/),
  });
  const [event] = await eventsOf('flow.waiting', id);
  expect(event).toMatchObject({ id, status: 'Waiting', nextWindowAt: until, reason: waiting.waitsFor });
  const details = await (await workflowOf(id)).query<string>('__temporal_workflow_metadata');
  expect(JSON.stringify(details)).toContain(until);
  await setPolicy('uat', null);
  expect(await reached(id, 'succeeded')).toMatchObject({ nextWindowAt: null, waitsFor: null });
  expect(ran(note)).toBe(1);
});

/** A run that waits for the end of a freeze which is not far. */
async function waitingBriefly(): Promise<{ id: string; note: string }> {
  for (let freezeMs = 3_000; ; freezeMs *= 2) {
    await setPolicy('uat', frozen(new Date(Date.now() + freezeMs).toISOString()));
    const run = await runs.start({ id: 'execute-release', environmentName: 'uat' });
    await eventually(
      () => shown(run.id),
      ({ rawStatus }) => ['waiting_window', 'succeeded'].includes(rawStatus),
    );
    // On a slow machine the freeze was over before the run looked.
    if ((await eventsOf('flow.waiting', run.id)).length > 0) return run;
  }
}

test('a run goes on by itself when its window opens', async () => {
  const { id } = await waitingBriefly();
  await reached(id, 'succeeded');
  await setPolicy('uat', null);
});

test('a run that may not wait fails at once, before anybody is asked', async () => {
  await setPolicy('guarded', frozen(inHours(1)));
  const { id, note } = await runs.start({
    id: 'execute-release',
    environmentName: 'guarded',
    failOutsideWindow: true,
  });
  const failed = await reached(id, 'failed');
  expect(failed).toMatchObject({ result: { code: 'outside_window' }, startedAt: null });
  expect(failed.success.error).toMatch(/frozen/);
  expect([ran(note), await app.sql('select 1 from approval where run_id = ?', [id])]).toEqual([0, []]);
  await setPolicy('guarded', null);
});

test('an owner, and nobody else, overrides a freeze and what comes before: in the trail, as event, on the report', async () => {
  await candidateOf('urgent');
  await setPolicy('guarded', { ...frozen(inHours(1)), after: ['uat'] });
  const release = { releaseName: 'urgent', environmentName: 'guarded', override: { reason: 'outage' } };
  for (const caller of [app.member, app.application]) await request(403, release, caller);
  const { errors } = await app.as(app.owner).post(400, '/api/flows/schedules', {
    name: 'overriding',
    cron: '0 3 * * *',
    payload: { id: 'execute-release', repositoryIdentifier, domain: 'core', ...release },
  });
  expect(errors[0].pointer).toBe('#/body/payload/override');
  const { id } = await request(202, release);
  await reached(id, 'waiting_approval');
  const asked = await app.as(app.owner).get(200, '/api/flows/approvals');
  expect(asked.items.find(({ executionId }: Json) => executionId === id).override.reason).toBe('outage');
  await approve(id);
  const override = { reason: 'outage', by: app.owner.email, at: expect.any(String) };
  expect(await reached(id, 'succeeded')).toMatchObject({ override });
  expect(await eventsOf('promotion.overridden', id)).toEqual([
    expect.objectContaining({ executionId: id, environmentName: 'guarded', releaseName: 'urgent', ...override }),
  ]);
  const trail = await app.as(app.owner).get(200, `/api/audit?entityId=${id}&action=promotion.overridden`);
  expect(trail.items).toEqual([expect.objectContaining({ after: expect.objectContaining(override) })]);
  const report = await app
    .as(app.member)
    .get(200, `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}`);
  const rows = report.items.filter(({ executionId }: Json) => executionId === id);
  expect(rows.map((row: Json) => [row.status, row.override])).toEqual([
    ['approved', override],
    ['requested', override],
  ]);
  await app.as(app.member).post(403, `/api/flows/runs/${id}/rerun`);
  await setPolicy('guarded', null);
});

test('an override is on the report where nobody is asked for an approval, once', async () => {
  await candidateOf('unasked');
  await setPolicy('uat', frozen(inHours(1)));
  const release = { releaseName: 'unasked', environmentName: 'uat', override: { reason: 'outage' } };
  const { id } = await request(202, release);
  await reached(id, 'succeeded');
  const report = await app
    .as(app.member)
    .get(200, `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}`);
  expect(report.items.filter(({ executionId }: Json) => executionId === id)).toEqual([
    expect.objectContaining({
      approvalId: null,
      taskType: 'execute-release',
      environment: 'uat',
      domain: 'core',
      releaseName: 'unasked',
      status: 'overridden',
      requestedBy: app.owner.email,
      resolvedBy: null,
      responseTimeMs: null,
      source: 'run',
      override: { reason: 'outage', by: app.owner.email, at: expect.any(String) },
    }),
  ]);
  const byStatus = await app
    .as(app.member)
    .get(200, `/api/flows/approvals/compliance?repositoryIdentifier=${repositoryIdentifier}&status=overridden`);
  expect(byStatus.items.map(({ executionId }: Json) => executionId)).toEqual([id]);
  await setPolicy('uat', null);
});

test('an approval is asked for in a freeze, and content that is replaced after it was given does not go', async () => {
  await setPolicy('guarded', frozen(inHours(1)));
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'guarded' });
  await approve(id);
  await reached(id, 'waiting_window');
  await cutRelease(app, repositoryIdentifier, note, { value: { artifacts: { app: '1.0.0-2' } } });
  await setPolicy('guarded', null);
  expect((await reached(id, 'failed')).success.error).toMatch(/other content than was approved/);
  expect(ran(note)).toBe(0);
});

test('a window that closes while the approval waits is waited for', async () => {
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'guarded' });
  await reached(id, 'waiting_approval');
  await setPolicy('guarded', frozen(inHours(1), 'incident'));
  await approve(id);
  expect((await reached(id, 'waiting_window')).waitsFor).toMatch(/incident/);
  await setPolicy('guarded', null);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
  const { states, createdAt, endedAt } = await shown(id);
  const passed: Json[] = (states as Json[]).filter(({ state }) => state !== 'waiting_lock');
  expect(passed).toMatchObject([
    { state: 'dispatched', since: createdAt, detail: null },
    { state: 'waiting_approval', approvalId: expect.any(String) },
    { state: 'waiting_window', detail: expect.stringContaining('incident') },
    { state: 'running' },
    { state: 'succeeded', since: endedAt, until: null, detail: null },
  ]);
  const moments = (states as Json[]).map(({ since }) => since);
  expect(moments).toEqual(moments.toSorted());
  expect((states as Json[]).map(({ until }) => until)).toEqual([...moments.slice(1), null]);
});

describe('what changes while a run waits for the lock', () => {
  /** A run that waits behind a ticket; returns what gives that back. */
  async function behindLock(name: string): Promise<{ id: string; note: string; free: () => Promise<unknown> }> {
    const owner = app.as(app.owner);
    const path = `/api/environments/${environments[name]}/locks`;
    const { ticketId } = await owner.post(201, path, {});
    const run = await runs.start({ id: 'execute-release', environmentName: name });
    if (name === 'guarded') await approve(run.id);
    await reached(run.id, 'waiting_lock');
    return { ...run, free: () => owner.delete(204, `${path}/${ticketId}`) };
  }

  test('a window that closes: the lock goes to others until the next', async () => {
    const { id, note, free } = await behindLock('uat');
    await setPolicy('uat', frozen(inHours(1)));
    await free();
    await reached(id, 'waiting_window');
    const { lockStatus } = await eventually(
      () => app.as(app.owner).get(200, `/api/environments/${environments.uat}`),
      (environment) => !environment.lockStatus.isLocked,
    );
    expect(lockStatus.waiting).toBe(0);
    await setPolicy('uat', null);
    await reached(id, 'succeeded');
    expect(ran(note)).toBe(1);
    const { states } = await shown(id);
    const { items } = await app.as(app.member).get(200, `/api/environments/${environments.uat}/timeline`);
    const locks = (items as Json[]).filter(({ type, executionId }) => type === 'locked' && executionId === id);
    const waited = (states as Json[]).find(({ state }) => state === 'waiting_lock');
    expect(locks.map(({ ticketId }) => ticketId)).toContain(waited?.ticketId);
  });

  test('a candidate that is replaced, aborted or moved to another branch does not go', async () => {
    for (const [name, detail, change] of [
      [
        'guarded',
        /other content/,
        (release: string) => cutRelease(app, repositoryIdentifier, release, { commitSha: 'b'.repeat(40) }),
      ],
      [
        'uat',
        /aborted/,
        (releaseName: string) =>
          app
            .as(app.owner)
            .post(200, '/api/release-candidates/abort', { repositoryIdentifier, domain: 'core', releaseName }),
      ],
      ['prod', /branch/, (release: string) => cutRelease(app, repositoryIdentifier, release, { branch: 'feature/x' })],
    ] as const) {
      const { id, note, free } = await behindLock(name);
      await change(note);
      await free();
      expect((await reached(id, 'failed')).success.error).toMatch(detail);
      expect(ran(note)).toBe(0);
    }
  });
});

test('a requested release goes to the environments that take its branch, and its child waits until it has soaked', async () => {
  await setPolicy('prod', { after: ['uat'], soakMinutes: 60 });
  const { id, note } = await runs.start({ id: 'request-release' });
  const [uat] = (
    await eventually(
      () => shown(id),
      ({ children }) => children.length === 1,
    )
  ).children;
  await reached(uat.id, 'succeeded');
  const prod = await eventually(
    () => shown(id),
    ({ children }) => children.length === 2,
  ).then(({ children }) => children.find((child: Json) => child.id !== uat.id));
  expect((await reached(prod.id, 'waiting_window')).environmentName).toBe('prod');
  // From the deployment that the run of uat recorded.
  const { nextWindowAt } = await eventually(
    () => shown(prod.id),
    (run) => run.nextWindowAt !== null,
  );
  const [deployment] = await app.sql<{ known_at: string }>(
    'select greatest(deployed_at, created_at) as known_at from release_deployment where execution_id = ?',
    [uat.id],
  );
  expect(Date.parse(nextWindowAt) - Date.parse(deployment?.known_at ?? '')).toBe(HOUR_MS);
  await setPolicy('prod', { after: ['uat'] });
  await reached(id, 'succeeded');
  expect([ran(note), (await shown(id)).children.length]).toEqual([2, 2]);
  await setPolicy('prod', null);
});

test('a release that no environment takes is refused, and one of another branch goes where that is taken', async () => {
  await app.as(app.owner).patch(200, `/api/environments/${environments.uat}`, { branch: 'main' });
  await cutRelease(app, repositoryIdentifier, 'stray', { branch: 'feature/x' });
  const refused = await request(409, { id: 'request-release', releaseName: 'stray' });
  expect(refused.detail).toMatch(/takes the branch feature\/x/);
  await cutRelease(app, repositoryIdentifier, 'fix', { branch: 'hotfix/1' });
  const { id } = await request(202, { id: 'request-release', releaseName: 'fix' });
  const { children } = await reached(id, 'succeeded');
  expect(children).toHaveLength(1);
  expect(await shown(children[0].id)).toMatchObject({ environmentName: 'hotfix' });
  await app.as(app.owner).patch(200, `/api/environments/${environments.uat}`, { branch: '**' });
});

test('a run that waits for its window ends at once when it is cancelled', async () => {
  await setPolicy('uat', frozen(inHours(1)));
  const { id, note } = await runs.start({ id: 'execute-release', environmentName: 'uat' });
  await reached(id, 'waiting_window');
  await app.as(app.owner).post(200, `/api/flows/runs/${id}/cancel`);
  await reached(id, 'cancelled');
  expect(ran(note)).toBe(0);
  await setPolicy('uat', null);
});

test('a run whose window opens while there is no worker goes on when one comes', async () => {
  const { id, note } = await waitingBriefly();
  await worker.stop();
  await eventually(
    async () => (await workflowOf(id)).fetchHistory(),
    ({ events }) => events?.some(({ timerFiredEventAttributes: fired }) => fired) === true,
  );
  worker = await startWorker(app, QUEUES);
  await reached(id, 'succeeded');
  expect(ran(note)).toBe(1);
  await setPolicy('uat', null);
});
