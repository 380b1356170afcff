import { classesZip } from '../../../support/deploy-archive.ts';
import { sourceRuns } from '../../../support/source-runs.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually } from '../../../support/worker.ts';

let runs: Awaited<ReturnType<typeof sourceRuns>>;
let shop: Awaited<ReturnType<typeof runs.shop>>;
let first: string;
beforeAll(async () => {
  runs = await sourceRuns();
  first = runs.remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice') },
  });
});
beforeEach(async () => {
  shop = await runs.shop();
});
afterAll(() => runs.close());

test('a deployment of which the org shows nothing new for a day ends as one whose outcome nobody knows', async () => {
  shop.deployments.polls.components = 1_000_000;
  const run = await shop.start({ commitId: first });
  await eventually(
    () => runs.shown(run),
    ({ steps }) => JSON.stringify(steps).includes('Processing Type'),
  );
  await runs.app.sql(
    `update org_step set result = jsonb_set(result, '{changedAt}', '"2026-01-01T00:00:00.000Z"') where run_id = ? and state = 'begun'`,
    [String(run.id)],
  );
  await expect(runs.ended(run)).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('look at Deployment Status in Setup') },
    result: { code: 'unknown_outcome' },
    steps: [{}, { state: 'unknown' }],
  });
});

test('an answer that is too large ends the run at once', async () => {
  shop.org.fail('endless', { path: /deployRequest\/0Af/ });
  await expect(shop.ran({ commitId: first })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('larger than') },
    result: { code: 'unknown_outcome' },
  });
});

test('what somebody else deploys as the same user is not taken for what was asked, and is not waited for', async () => {
  shop.org.fail('drop', { path: /deployRequest$/ });
  const release = shop.org.hold(/deployRequest$/);
  const run = await shop.start({ commitId: first, testLevel: 'RunLocalTests' });
  await eventually(
    async () => runs.crm.requests.some(({ org, path }) => org === shop.org.name && path.endsWith('deployRequest')),
    Boolean,
  );
  shop.deployments.start(classesZip({ A: 'class A {}' }), { checkOnly: false, testLevel: 'NoTestRun' });
  release();
  await expect(runs.ended(run)).resolves.toMatchObject({ status: 'Completed' });
  expect(shop.deployments.ledger.map(({ components }) => components)).toEqual([['ApexClass:A'], ['ApexClass:Invoice']]);
});

test('an org that is away when a run is cancelled is asked again', async () => {
  shop.deployments.polls.components = 1_000_000;
  const run = await shop.start({ commitId: first });
  await runs.begun(run);
  shop.org.fail('html-503', { times: 3 });
  await runs.cancel(run);
  await expect(runs.ended(run)).resolves.toMatchObject({ status: 'Cancelled', steps: [{}, { state: 'cancelled' }] });
  expect(shop.deployments.all[0]?.status).toBe('Canceled');
});

test('a validation of another commit than the one that is named is not deployed', async () => {
  const validation = await shop.ran({ commitId: first, validateOnly: true, testLevel: 'RunLocalTests' });
  const refused = await shop.start({ quickDeployOf: validation.id, commitId: 'f'.repeat(40) }, 409);
  expect(refused.detail).toContain(`validated the commit ${first}, and not`);
});
