import type { Json } from '../../../support/client.ts';
import { sourceRuns } from '../../../support/source-runs.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually } from '../../../support/worker.ts';

let runs: Awaited<ReturnType<typeof sourceRuns>>;
let commitId: string;
beforeAll(async () => {
  runs = await sourceRuns();
  commitId = runs.remote.commit({
    files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Invoice', '') },
  });
});
afterAll(() => runs.close());

const freezes = [{ from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', reason: 'year end' }];
const waiting = (run: Json, reason: string) =>
  eventually(
    () => runs.shown(run),
    ({ waitsFor }) => String(waitsFor).includes(reason),
  );

test('a run whose turn comes while its environment is frozen waits, and those of other projects are not named', async () => {
  const shop = await runs.shop();
  const owner = runs.app.as(runs.app.owner);
  const release = shop.deployments.occupy();
  const one = await shop.start({ commitId });
  await runs.begun(one);
  const foreign = await (await runs.shop()).start({ commitId, orgUsername: shop.org.username });
  await waiting(foreign, 'Waits for a run of another project in the same org');
  const { id } = await owner.post(201, '/api/environments', {
    repositoryIdentifier: shop.repositoryIdentifier,
    name: 'uat',
    category: 'test',
    orgUsername: shop.org.username,
  });
  const two = await shop.start({ commitId, whole: true, environmentName: 'uat' });
  await waiting(two, `Waits for run ${one.id}`);
  await owner.patch(200, `/api/environments/${id}`, { promotion: { freezes } });
  release();
  await expect(runs.ended(one)).resolves.toMatchObject({ status: 'Completed' });
  for (const run of [foreign, two]) await waiting(run, 'year end');
  expect(shop.deployments.ledger).toHaveLength(1);
  await owner.patch(200, `/api/environments/${id}`, { promotion: null });
  for (const run of [foreign, two]) await expect(runs.ended(run)).resolves.toMatchObject({ status: 'Completed' });
});
