import { orgReleases } from '../../../support/org-releases.ts';
import { eventually } from '../../../support/worker.ts';
import type { Json } from '../../../support/client.ts';

const given = orgReleases();
const { start, ended, shown, ran, cut, commit, recorded, ledger } = given;
const states = ({ steps }: Json) => (steps as Json[]).map(({ name, state }) => `${name}: ${state}`);
const INVOICE = ' Integer total; ';

test('package versions are installed, then source is deployed, and the deployment is recorded; the next one is a delta', async () => {
  const base = given.org.packages.offer('Base', { number: [1, 2, 0, 1] });
  const sales = given.org.packages.offer('Sales', { needs: [base.id] });
  const first = commit({ Invoice: '', Old: '' }, [base, sales]);
  await cut('r1', first, { Base: '1.2.0', Sales: sales.id });
  const run = await ran({ releaseName: 'r1' });
  expect(run).toMatchObject({
    status: 'Completed',
    result: {
      orgUsername: given.org.username,
      commitSha: first,
      form: 'whole',
      packages: [
        { name: 'Base', outcome: 'installed' },
        { name: 'Sales', outcome: 'installed' },
      ],
      releaseNotesUrl: expect.stringContaining('/api/releases/r1/notes?repositoryIdentifier=acme%2Freleased'),
    },
  });
  expect(states(run)).toEqual([
    'Install Base 1.2.0.1: succeeded',
    'Install Sales 1.0.0.1: succeeded',
    'Build the source: succeeded',
    'Deploy: succeeded',
  ]);
  expect(ledger()).toEqual([base.id, sales.id, 'ApexClass:Invoice ApexClass:Old']);
  await given.app.as(given.app.owner).get(200, run.result.releaseNotesUrl);
  const text = await given.output(run);
  expect(text).toContain(`installed: Base 1.2.0.1 (${base.id}`);
  expect(text).toContain('Succeeded, 2 of 2 components');
  expect(await recorded(run)).toMatchObject([
    { status: 'Success', installed: { Base: '1.2.0', Sales: sales.id }, metadata: { taskType: 'execute-release' } },
  ]);
  const second = commit({ Invoice: INVOICE, Old: null }, [base, sales]);
  await cut('r2', second, { Base: '1.2.0', Sales: sales.id });
  const next = await ran({ releaseName: 'r2', deletions: true });
  expect(next).toMatchObject({ status: 'Completed', result: { form: 'delta', baseSha: first, deletions: 1 } });
  expect(states(next).slice(0, 2)).toEqual(['Install Base 1.2.0.1: skipped', 'Install Sales 1.0.0.1: skipped']);
  expect(ledger().slice(3)).toEqual(['ApexClass:Invoice -ApexClass:Old']);
  const nothing = await ran({ releaseName: 'r2' });
  expect(nothing).toMatchObject({ status: 'Completed', result: { form: 'nothing' } });
  expect(await recorded(nothing)).toMatchObject([{ status: 'Success' }]);
});

test('source alone: a package directory of which no versions are built, and what is left out is said', async () => {
  const files = {
    'sfdx-project.json': JSON.stringify({
      packageDirectories: [
        { path: 'app', package: 'shop' },
        { path: 'lib', package: 'lib' },
      ],
    }),
  };
  commit({ Invoice: '' });
  const commitSha = given.repository.commit({ files });
  await cut('r1', commitSha, { shop: '1.5.0' });
  const run = await ran({ releaseName: 'r1' });
  expect(run).toMatchObject({ status: 'Completed', result: { leftOut: ['lib'], components: 1 } });
  expect(await recorded(run)).toMatchObject([{ status: 'Success', installed: { shop: '1.5.0' } }]);
});

test('of a release of which a part did not arrive, what arrived is recorded', async () => {
  const [a, b] = [given.org.packages.offer('A'), given.org.packages.offer('B')];
  await cut('r1', commit({ Invoice: '' }), { A: a.id, B: b.id, app: '1.0' });
  given.org.packages.failures.push([], ['Apex compile failure']);
  const run = await ran({ releaseName: 'r1' });
  expect(run).toMatchObject({ status: 'Partial', success: { error: expect.stringContaining('Apex compile failure') } });
  expect(states(run).slice(1)).toEqual([
    'Install B 1.0.0.1: failed',
    'Build the source: cancelled',
    'Deploy: cancelled',
  ]);
  expect(await recorded(run)).toMatchObject([
    {
      status: 'Partial',
      installed: { A: a.id },
      packages: { A: a.id },
      details: [
        { name: 'A', status: 'installed' },
        { name: 'B', status: 'failed', error: expect.stringContaining('Apex compile failure') },
        { name: 'app', status: 'not installed' },
      ],
    },
  ]);
  given.org.deployments.problems = [{ pattern: /Invoice/, problem: 'Variable does not exist: total' }];
  const again = await ran({ releaseName: 'r1' });
  expect(again).toMatchObject({ status: 'Partial', result: { problemCount: 1 } });
  expect(await recorded(again)).toMatchObject([{ status: 'Partial', installed: { A: a.id, B: b.id } }]);
  given.org.deployments.problems = [];
  await expect(ran({ releaseName: 'r1' })).resolves.toMatchObject({ status: 'Completed' });
  expect(ledger()).toEqual([a.id, b.id, b.id, 'ApexClass:Invoice']);
  const later = given.org.packages.offer('Later');
  given.org.packages.failures.push(['no']);
  await cut('r2', commit({ Invoice: INVOICE }), { Later: later.id });
  await expect(ran({ releaseName: 'r2' })).resolves.toMatchObject({ status: 'Failed' });
  await expect(ran({ releaseName: 'r2' })).resolves.toMatchObject({ status: 'Completed', result: { form: 'delta' } });
});

test('of a release whose source the org refuses at once, the packages that arrived are shown and recorded', async () => {
  const a = given.org.packages.offer('A');
  await cut('r1', commit({ Invoice: '' }), { A: a.id });
  const body = [{ errorCode: 'INVALID_OPERATION', message: 'no deployments now' }];
  given.org.fail({ kind: 'reply', status: 400, body }, { path: /deployRequest$/ });
  const run = await ran({ releaseName: 'r1' });
  expect(run).toMatchObject({
    status: 'Partial',
    success: { error: expect.stringContaining('no deployments now') },
    result: { packages: [{ name: 'A', outcome: 'installed' }] },
  });
  expect(states(run).at(-1)).toBe('Deploy: failed');
  expect(await given.output(run)).toContain(`installed: A 1.0.0.1 (${a.id}`);
  expect(await recorded(run)).toMatchObject([{ status: 'Partial', installed: { A: a.id } }]);
});

test('nothing is done twice where an answer was lost, and nobody claims what is not known', async () => {
  const a = given.org.packages.offer('A');
  await cut('r1', commit({ Invoice: '' }), { A: a.id });
  given.org.fail('lost', { path: /PackageInstallRequest$/ });
  given.org.fail('lost', { path: /deployRequest$/ });
  await expect(ran({ releaseName: 'r1' })).resolves.toMatchObject({ status: 'Completed' });
  expect(ledger()).toEqual([a.id, 'ApexClass:Invoice']);
});

test('a run that ends before anything was asked records nothing, and cancelling stops what is under way', async () => {
  const a = given.org.packages.offer('A');
  await cut('r1', commit({ Invoice: '' }), { A: a.id });
  await cut('bad', 'f'.repeat(40), { A: a.id });
  const unknown = await ran({ releaseName: 'bad' });
  expect(unknown).toMatchObject({ status: 'Failed', steps: [] });
  expect(await recorded(unknown)).toEqual([]);
  given.org.deployments.polls.components = 1_000_000;
  const run = await start({ releaseName: 'r1' });
  await eventually(
    () => shown(run),
    ({ steps }) => (steps as Json[]).at(-1)?.state === 'begun',
  );
  await given.app.as(given.app.owner).post(200, `/api/flows/runs/${run.id}/cancel`);
  const cancelled = await ended(run);
  expect(cancelled).toMatchObject({ status: 'Cancelled', result: { packages: [{ outcome: 'installed' }] } });
  expect(states(cancelled)).toEqual([
    'Install A 1.0.0.1: succeeded',
    'Build the source: succeeded',
    'Deploy: cancelled',
  ]);
  expect(await recorded(cancelled)).toMatchObject([{ status: 'Partial', installed: { A: a.id } }]);
});

test('tests run by themselves where no source is deployed with which they would', async () => {
  commit({ InvoiceTest: '' });
  const code = '@isTest\npublic class InvoiceTest {\n  @isTest static void adds() {}\n}\n';
  await cut('r1', given.repository.commit({ files: { 'app/classes/InvoiceTest.cls': code } }));
  await ran({ releaseName: 'r1' });
  const run = await ran({ releaseName: 'r1', testLevel: 'RunLocalTests' });
  expect(run).toMatchObject({ status: 'Completed', result: { form: 'nothing', tests: { passed: 1 } } });
  expect(states(run)).toEqual(['Build the source: succeeded', 'Deploy: skipped', 'Run Apex tests: succeeded']);
  given.org.deployments.failingTests.set('InvoiceTest.adds', { message: 'System.AssertException: no' });
  const failing = await ran({ releaseName: 'r1', testLevel: 'RunLocalTests' });
  expect(failing).toMatchObject({ status: 'Failed', success: { error: expect.stringContaining('InvoiceTest.adds') } });
  expect(await recorded(failing)).toEqual([]);
});

test('a request of a release goes by the service to each environment that has an org', async () => {
  const prod = await given.environment('prod', { orchestrationOrder: 2 });
  await cut('r1', commit({ Invoice: '' }));
  const request = { id: 'request-release', releaseName: 'r1', environmentName: undefined };
  const run = await ran(request);
  expect(run).toMatchObject({ status: 'Completed' });
  for (const { deployments } of [given.org, prod]) expect(deployments.ledger).toHaveLength(1);
  await given.app.as(given.app.owner).post(201, '/api/environments', {
    repositoryIdentifier: given.repositoryIdentifier,
    name: 'late',
    category: 'release',
  });
  await expect(start(request, 409)).resolves.toMatchObject({
    code: 'flow_unavailable',
    detail: expect.stringContaining('late: The environment late names no org'),
  });
});

test('what the service cannot install is refused, with its name', async () => {
  const a = given.org.packages.offer('A');
  await cut(
    'r1',
    commit({ Invoice: '' }),
    { A: a.id, Ghost: '3.1.0', Seeds: '1.0' },
    { artifactTypes: { Seeds: 'data' } },
  );
  const run = await ran({ releaseName: 'r1' });
  expect(run).toMatchObject({ status: 'Failed', steps: [] });
  expect(run.result.refusals).toEqual([
    expect.stringContaining('Ghost 3.1.0 is no id of a version'),
    expect.stringContaining('Seeds is data'),
  ]);
  expect(await recorded(run)).toEqual([]);
  const empty = given.repository.commit({ from: null, branch: 'empty', files: { 'README.md': 'none' } });
  await cut('r2', empty);
  await expect(ran({ releaseName: 'r2' })).resolves.toMatchObject({
    status: 'Failed',
    success: { error: expect.stringContaining('carries neither package versions nor source') },
  });
  expect(ledger()).toEqual([]);
});

test.each([
  [{ validateOnly: true }, 'install-artifacts validates'],
  [{ orgUsername: 'other@x.example' }, 'goes to the org of its environment'],
  [{ testLevel: 'Everything' }, 'testLevel is one of'],
])('%j is refused before it begins', async (payload, detail) => {
  await cut('r1', commit({ Invoice: '' }));
  await expect(start({ releaseName: 'r1', ...payload }, 409)).resolves.toMatchObject({
    code: 'flow_unavailable',
    detail: expect.stringContaining(detail),
  });
});
