import {
  unconfirmedRequestsSweep,
  workItemReportsSweep,
} from '../../../../activities/work/work-item-requests/work-item-requests.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { json } from '../../../../domain/kernel/data/columns.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { completeCreation } from '../../../../domain/work/work-item-requests/request-creation.mutations.ts';
import type { Launch } from '../../../../workflows/launch.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';
import { addedRequest, type NewRequestRow, REQUESTS } from '../../../support/work-item-requests.ts';

let app: TestApp;
let activities: ReturnType<typeof activityDeps>;
let signalled: unknown[] = [];
const launch: Launch = {
  ...engineAway,
  async signalWithStart(_contract, input) {
    signalled.push(input);
  },
};

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  activities = activityDeps(app);
});
afterAll(async () => {
  await activities.close();
  await app.close();
});

const before = (seconds: number) => new Date(Date.now() - seconds * 1_000);

const added = (given: NewRequestRow) => addedRequest(app, given);
/** As when the tracker has answered that it created the work item. */
async function complete(id: string, projectIdentifier: string, key: string): Promise<void> {
  const [project] = await app.sql<{ id: string }>('select id from project where identifier = ?', [projectIdentifier]);
  const created = { platform: 'host-a', key, url: `https://github.com/acme/shop/issues/${key}` } as const;
  await activities.deps.actingAs(systemActor(app.tenantKey, 'work-items'))((tx) =>
    completeCreation(tx, { id: project?.id ?? '', identifier: projectIdentifier }, id, created),
  );
}
const show = (id: string) => app.as(app.owner).get(200, `${REQUESTS}/${id}`);

test('a request whose process died while its work item was created fails after five minutes, and a callback adopts it', async () => {
  const late = await added({ status: 'creating', createdAt: before(301) });
  const fresh = await added({ status: 'creating', createdAt: before(290) });
  await runSweep({ ...activities.deps, launch }, unconfirmedRequestsSweep);
  await expect(show(late.id)).resolves.toMatchObject({
    status: 'failed',
    workItemKey: null,
    error: expect.stringContaining('did not confirm'),
  });
  await expect(show(fresh.id)).resolves.toMatchObject({ status: 'creating' });
  await late.callback('started', { requestId: late.id, workItemKey: '31' });
  await expect(show(late.id)).resolves.toMatchObject({ status: 'in_progress', workItemKey: '31', error: null });
});

test('a request that a callback made known before its creation was confirmed is merged into the one that was created', async () => {
  const { id, projectIdentifier, callback, list } = await added({ status: 'creating', title: 'Install' });
  const item = { workItemKey: '31', taskType: 'install-packages', executionId: 'job-1' };
  await callback('started', item);
  await callback('completed', { ...item, taskType: 'run-apex-tests', executionId: 'job-2' });
  expect((await list()).total).toBe(3);
  await complete(id, projectIdentifier, '31');
  await callback('completed', { ...item, workItemKey: '99', taskType: undefined });
  expect(await show(id)).toMatchObject({
    status: 'completed',
    executionId: 'job-1',
    workItemKey: '31',
    title: 'Install',
  });
  expect((await list()).total).toBe(2);
});

test('an answer of the tracker that comes after the request was given up counts', async () => {
  const { id, projectIdentifier } = await added({ status: 'creating', createdAt: before(301) });
  await runSweep({ ...activities.deps, launch }, unconfirmedRequestsSweep);
  await expect(show(id)).resolves.toMatchObject({ status: 'failed' });
  await complete(id, projectIdentifier, '32');
  await expect(show(id)).resolves.toMatchObject({ status: 'open', workItemKey: '32', error: null });
});

test('a newer execution keeps a work item open that was to be closed', async () => {
  const { id, callback } = await added({ workItemKey: '12' });
  await callback('completed', { executionId: 'job-1' });
  await app.sql(`update work_item_request set close_due_at = now() + interval '5 minutes' where id = ?`, [id]);
  await callback('started', { executionId: 'job-2' });
  expect(await app.sql('select status, close_due_at from work_item_request where id = ?', [id])).toEqual([
    { status: 'in_progress', close_due_at: null },
  ]);
});

test('what a work item does not show in time, and one that was not closed, are seen to', async () => {
  const report = json({
    runId: newId(),
    taskType: 'install-packages',
    status: 'succeeded' as const,
    error: null,
    url: null,
  });
  const item = { workItemKey: '12', report, reportRevision: 2, reportWrittenRevision: 1 };
  const unwritten = await added({ ...item, reportChangedAt: before(61) });
  await added({ ...item, reportChangedAt: before(30) });
  await added({ ...item, reportWrittenRevision: 2, reportChangedAt: before(61) });
  const unclosed = await added({ workItemKey: '12', closeDueAt: before(61) });
  await added({ workItemKey: '12', closeDueAt: before(-61) });
  signalled = [];
  await runSweep({ ...activities.deps, launch }, workItemReportsSweep);
  expect(signalled).toHaveLength(2);
  for (const { id: requestId, projectIdentifier: repositoryIdentifier } of [unwritten, unclosed])
    expect(signalled).toContainEqual({ ...app.tenantKey, requestId, repositoryIdentifier });
});
