import { reconcileSchedules } from '../../workflows/schedules.ts';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { newId } from '../../domain/shared/ids.ts';
import { eventually } from '../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
afterAll(() => client.connection.close());

const namesOf = async (root: string) => {
  const names = [];
  for await (const { scheduleId } of client.schedule.list())
    if (scheduleId.startsWith(root)) names.push(scheduleId.slice(root.length));
  return names.toSorted();
};

test('schedules are made what the list says: added, removed, and an operator keeps one paused', async () => {
  const prefix = `s${newId().slice(-12)}-`;
  const root = `quayside-schedule/${prefix}`;
  await Promise.all([reconcileSchedules(client, prefix), reconcileSchedules(client, prefix)]);
  const wanted = await eventually(
    () => namesOf(root),
    (names) => names.length >= 2,
  );
  expect(wanted).toEqual(expect.arrayContaining(['housekeeping', 'sweep']));

  const sweep = client.schedule.getHandle(`${root}sweep`);
  await sweep.pause('maintenance');
  await client.schedule.create({
    scheduleId: `${root}of-yesterday`,
    spec: { intervals: [{ every: '1 day' }] },
    action: { type: 'startWorkflow', workflowType: 'sweep', taskQueue: `${prefix}system-v1` },
  });
  await client.schedule.getHandle(`${root}housekeeping`).delete();
  await eventually(
    () => namesOf(root),
    (names) => names.includes('of-yesterday') && !names.includes('housekeeping'),
  );
  await reconcileSchedules(client, prefix);
  await eventually(
    () => namesOf(root),
    (names) => names.join() === wanted.join(),
  );
  await expect(sweep.describe()).resolves.toMatchObject({ state: { paused: true, note: 'maintenance' } });
  for (const name of wanted) await client.schedule.getHandle(root + name).delete();
});
