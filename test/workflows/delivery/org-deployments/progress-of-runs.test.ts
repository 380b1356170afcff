import { addLines } from '../../../../domain/delivery/flows/run-progress.queries.ts';
import { noteRunProgress } from '../../../../domain/delivery/flows/run-progress.mutations.ts';
import { runById } from '../../../../domain/delivery/flows/flow-runs.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import type { UnitOfWork } from '../../../../domain/unit-of-work.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { activityDeps } from '../../../support/activities.ts';
import type { Json } from '../../../support/client.ts';
import { insertRun, insertWebhook } from '../../../support/factories.ts';
import { sourceRuns } from '../../../support/source-runs.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually } from '../../../support/worker.ts';

let runs: Awaited<ReturnType<typeof sourceRuns>>;
let shop: Awaited<ReturnType<typeof runs.shop>>;
let backend: WorkerBackend;
let unit: UnitOfWork;
let named: string;
let grouped: string;
beforeAll(async () => {
  runs = await sourceRuns();
  backend = activityDeps(runs.app);
  unit = backend.deps.actingAs(systemActor(runs.app.tenantKey, 'flow'));
  named = await insertWebhook(runs.app, { event: 'flow.progress' });
  grouped = await insertWebhook(runs.app, { event: 'flow.*' });
  shop = await runs.shop();
});
afterAll(async () => {
  await backend.close();
  await runs.close();
});

const announced = (runId: string): Promise<Json[]> =>
  runs.app.sql(
    `select webhook_id, payload from webhook_delivery where event = 'flow.progress' and payload ->> 'id' = ? order by created_at, id`,
    [runId],
  );
const output = (id: string) => runs.app.as(runs.app.owner).request(200, 'GET', `/api/flows/runs/${id}/output`);

test('a run shows how far it is, in its output, too, and announces it to those who name that event', async () => {
  shop.deployments.polls.components = 1_000_000;
  const commitId = runs.remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice') },
  });
  const run = await shop.start({ commitId });
  const at: Json = await eventually(
    () => runs.shown(run),
    ({ progress }) => progress?.counts?.components === 1,
  );
  expect(at.progress).toMatchObject({ step: expect.stringMatching(/^Deploy: /), percent: expect.any(Number) });
  const { text, headers } = await output(at.id);
  expect(headers.get('x-output-complete')).toBe('false');
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z Deploy: .*, \d+ %, \d of 1 components\n/m);
  expect(at.outputTail).toBe(text);
  const [first] = await eventually(
    () => announced(at.id),
    (events) => events.length > 0,
  );
  expect(first).toMatchObject({
    webhook_id: named,
    payload: { id: at.id, taskType: 'install-artifacts', status: 'Running', step: expect.any(String) },
  });
  shop.deployments.polls.components = 0;
  const { id } = await runs.ended(run);
  expect((await output(id)).text).toContain('Succeeded, 1 of 1 components');
  expect((await announced(id)).map(({ webhook_id: webhookId }) => webhookId)).not.toContain(grouped);
});

test('it is announced at most once a second, whatever process looks, and only what is new', async () => {
  const id = await insertRun(runs.app, {
    repositoryIdentifier: shop.repositoryIdentifier,
    requestedBy: runs.app.owner.email,
    status: 'running',
    displayStatus: 'Running',
  });
  const note = (percent: number) =>
    unit(async (tx) => noteRunProgress(tx, await runById(tx, id), { step: 'Deploy', percent }));
  const percents = async () => (await announced(id)).map(({ payload }) => payload.percent);
  const setBack = (interval: string) =>
    runs.app.sql(`update flow_run set announced_at = now() + ?::interval where id = ?`, [interval, id]);

  await note(10);
  // Whatever time has passed on a busy machine, less than a second has.
  await setBack('1 hour');
  await note(20);
  await note(30);
  await expect(percents()).resolves.toEqual([10]);
  await expect(runs.shown({ id })).resolves.toMatchObject({ progress: { step: 'Deploy', percent: 30 } });
  await setBack('-1 second');
  await note(30);
  await setBack('-1 second');
  await note(30);
  await expect(percents()).resolves.toEqual([10, 30]);
  const lines = (await output(id)).text.trim().split('\n');
  expect(lines.map((line) => line.slice(line.indexOf(' ') + 1))).toEqual([
    'Deploy, 10 %',
    'Deploy, 20 %',
    'Deploy, 30 %',
  ]);
});

test('of a long log the last 64 KiB are kept, by their place in all of it', async () => {
  const id = await insertRun(runs.app, {
    repositoryIdentifier: shop.repositoryIdentifier,
    requestedBy: runs.app.owner.email,
  });
  const line = 'x'.repeat(1_023);
  await unit((tx) =>
    addLines(
      tx,
      id,
      Array.from({ length: 60 }, () => line),
    ),
  );
  await unit((tx) => addLines(tx, id, [...Array.from({ length: 9 }, () => line), 'end']));
  const { text, headers } = await output(id);
  expect([text.length, headers.get('x-output-offset')]).toEqual([65_536, String(69 * 1_024 + 4 - 65_536)]);
  expect(text.endsWith('x\nend\n')).toBe(true);
  await expect(runs.shown({ id })).resolves.toMatchObject({ outputBytes: 69 * 1_024 + 4 });
});
