import {
  unconfirmedRequestsSweep,
  workItemReportsSweep,
} from '../../../activities/work-item-requests/work-item-requests.sweep.ts';
import { runSweep } from '../../../activities/system/run-sweep.ts';
import { json } from '../../../domain/data/columns.ts';
import { newId } from '../../../domain/shared/ids.ts';
import type { Launch } from '../../../workflows/launch.ts';
import { activityDeps } from '../../support/activities.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { engineAway } from '../../support/launch.ts';
import { addedRequest, type NewRequestRow, REQUESTS } from '../../support/work-item-requests.ts';

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
  for (const { id: requestId } of [unwritten, unclosed])
    expect(signalled).toContainEqual({ ...app.tenantKey, requestId });
});
