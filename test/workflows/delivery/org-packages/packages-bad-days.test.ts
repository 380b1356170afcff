import type { Json } from '../../../support/client.ts';
import type { OfferedVersion } from '../../../simulators/crm-org/packages.ts';
import { packageRuns } from '../../../support/package-runs.ts';
import { eventually, startWorkerProcess } from '../../../support/worker.ts';

const given = packageRuns();
const install = (...versions: OfferedVersion[]) =>
  given.start({ packages: Object.fromEntries(versions.map(({ name, id }) => [name, id])) });
const ran = async (...versions: OfferedVersion[]): Promise<Json> => given.ended(await install(...versions));
const isAsked = /PackageInstallRequest$/;
const asked = () => given.packages.ledger.map(({ versionId }) => versionId);

test('a validation that waits is waited for', async () => {
  const slow = given.packages.offer('Slow', {
    validations: ['PACKAGE_UNAVAILABLE', 'UNINSTALL_IN_PROGRESS', 'PACKAGE_UNAVAILABLE_ZIP'],
  });
  await expect(ran(slow)).resolves.toMatchObject({ status: 'Completed' });
  expect(asked()).toEqual([slow.id]);
});

test('an error of the org ends the run with its texts; what came before stays, what follows is not begun', async () => {
  const base = given.packages.offer('Base');
  const middle = given.packages.offer('Middle', { needs: [base.id] });
  const top = given.packages.offer('Top', { needs: [base.id, middle.id] });
  given.packages.failures.push([], ['Apex class A does not compile', 'Field B is missing']);
  const run = await ran(top);
  expect(run).toMatchObject({
    status: 'Partial',
    success: { error: 'Install Middle 1.0.0.1: Apex class A does not compile; Field B is missing' },
    result: {
      packages: [
        { name: 'Base', outcome: 'installed' },
        { name: 'Middle', outcome: 'failed', reason: 'Apex class A does not compile; Field B is missing' },
        { name: 'Top', outcome: 'not_begun', reason: 'not begun: Install Middle 1.0.0.1 did not succeed' },
      ],
    },
  });
  expect(asked()).toEqual([base.id, middle.id]);
});

test('an error that repeats a key does not show it', async () => {
  const base = given.packages.offer('Base', { key: 'sesame' });
  await given.keys({ [base.id]: 'sesame' });
  given.packages.failures.push(['The key sesame opens nothing']);
  const run = await ran(base);
  expect(run.success.error).toContain('The key … opens nothing');
  expect(JSON.stringify([run, await given.output(run)])).not.toContain('sesame');
});

test('errors that pass, and locks of the org, are tried again within bounds', async () => {
  const base = given.packages.offer('Base');
  const locked = [{ errorCode: 'ALREADY_IN_PROCESS', message: 'The administration setup has already been locked' }];
  given.org.fail({ kind: 'reply', status: 400, body: locked }, { path: isAsked, times: 3 });
  given.packages.failures.push(
    ["The requested package doesn't yet exist or has been deleted"],
    ['unable to obtain exclusive access to this record'],
  );
  await expect(ran(base)).resolves.toMatchObject({ status: 'Completed' });
  expect(asked()).toEqual([base.id, base.id, base.id]);
  given.org.fail({ kind: 'reply', status: 400, body: locked }, { path: isAsked, times: 1_000 });
  const other = given.packages.offer('Other');
  await expect(ran(other)).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('already been locked') },
  });
  expect(asked()).toHaveLength(3);
});

test('an installation whose answer was lost is found, and not asked for again', async () => {
  const base = given.packages.offer('Base');
  given.packages.failures.push(['Something is wrong']);
  await expect(ran(base)).resolves.toMatchObject({ status: 'Failed' });
  // The request of the run before is not taken for its own.
  given.org.fail('lost', { path: isAsked });
  const run = await ran(base);
  expect(run).toMatchObject({ status: 'Completed', result: { packages: [{ outcome: 'installed' }] } });
  expect(asked()).toEqual([base.id, base.id]);
});

test('an installation that the org never got is asked for again', async () => {
  const base = given.packages.offer('Base');
  given.org.fail('drop', { path: isAsked });
  await expect(ran(base)).resolves.toMatchObject({ status: 'Completed' });
  expect(asked()).toEqual([base.id]);
});

test('an org that is away, or ends the session, between two looks keeps the run going', async () => {
  const base = given.packages.offer('Base');
  given.packages.polls = 3;
  const run = await install(base);
  await eventually(async () => asked().length, Boolean);
  given.org.fail('html-503', { path: /query/, times: 2 });
  given.org.endSessions();
  await expect(given.ended(run)).resolves.toMatchObject({ status: 'Completed' });
  expect(asked()).toEqual([base.id]);
});

test('two runs in one org go one after the other', async () => {
  const base = given.packages.offer('Base');
  const other = given.packages.offer('Other');
  given.packages.polls = 3;
  const runs = await Promise.all([install(base), install(other)]);
  for (const run of runs) await expect(given.ended(run)).resolves.toMatchObject({ status: 'Completed' });
  expect(asked().toSorted()).toEqual([base.id, other.id].toSorted());
});

test('a run that is cancelled says what goes on in the org, and begins nothing more', async () => {
  const base = given.packages.offer('Base');
  const top = given.packages.offer('Top', { needs: [base.id] });
  given.packages.polls = 1_000;
  const run = await install(top);
  await eventually(
    () => given.shown(run),
    ({ steps }) => steps[0]?.state === 'begun',
  );
  await given.app.as(given.app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  const ended = await given.ended(run);
  expect(ended).toMatchObject({
    status: 'Cancelled',
    steps: [
      { name: 'Install Base 1.0.0.1', state: 'unknown', error: expect.stringContaining('the platform cancels no') },
      { name: 'Install Top 1.0.0.1', state: 'cancelled' },
    ],
  });
  expect(ended.success.error).toContain('goes on in the org as 0Hf');
  expect(await given.output(run)).toContain('not begun: Top');
  expect(asked()).toEqual([base.id]);
});

test('a request that the org has lost is said to be unknown, and not made again', async () => {
  const base = given.packages.offer('Base');
  given.packages.polls = 1_000;
  const run = await install(base);
  await eventually(
    () => given.shown(run),
    ({ steps }) => steps[0]?.state === 'begun',
  );
  given.packages.forget();
  await expect(given.ended(run)).resolves.toMatchObject({
    status: 'Failed',
    result: { code: 'unknown_outcome', packages: [{ outcome: 'unknown' }] },
  });
  expect(asked()).toEqual([base.id]);
});

test('a worker that dies as the org is asked is replaced by one that finds what was begun', async () => {
  const base = given.packages.offer('Base');
  const top = given.packages.offer('Top', { needs: [base.id] });
  await given.withoutWorker(async () => {
    const first = await startWorkerProcess(given.app);
    const release = given.org.hold(isAsked);
    const run = await install(top);
    await eventually(
      async () =>
        given.crm.requests.some(
          ({ org, path, method }) => org === given.org.name && method === 'POST' && isAsked.test(path),
        ),
      Boolean,
    );
    await first.kill('SIGKILL');
    release();
    await eventually(async () => asked().length, Boolean);
    const second = await startWorkerProcess(given.app);
    await expect(given.ended(run)).resolves.toMatchObject({ status: 'Completed' });
    await second.kill('SIGTERM');
  });
  expect(asked()).toEqual([base.id, top.id]);
});
