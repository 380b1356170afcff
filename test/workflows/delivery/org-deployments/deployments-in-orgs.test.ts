import { classesZip } from '../../../support/deploy-archive.ts';
import { sourceRuns } from '../../../support/source-runs.ts';
import { sourceOf } from '../../../support/source-builds.ts';
import { eventually } from '../../../support/worker.ts';

let runs: Awaited<ReturnType<typeof sourceRuns>>;
let shop: Awaited<ReturnType<typeof runs.shop>>;
let first: string;
let second: string;
beforeAll(async () => {
  runs = await sourceRuns();
  first = runs.remote.commit({
    files: {
      ...sourceOf.project([{ path: 'app' }]),
      ...sourceOf.apexClass('app', 'Invoice', "\n  String host = '%HOST%';\n"),
      ...sourceOf.apexClass('app/local', 'Sample'),
    },
  });
  second = runs.remote.commit({
    message: 'Count invoices',
    files: {
      ...sourceOf.apexClass('app', 'Invoice', "\n  String host = '%HOST%';\n  Integer total;\n"),
      ...Object.fromEntries(Object.keys(sourceOf.apexClass('app/local', 'Sample')).map((path) => [path, null])),
    },
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
  expect(shop.deployments.ledger.map(({ components }) => components)).toEqual([
    ['ApexClass:A'],
    ['ApexClass:Invoice', 'ApexClass:Sample'],
  ]);
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

describe('an environment with settings of its own', () => {
  const HOST = { find: '%HOST%', replaceWith: 'uat.example.com', files: ['app/**/*.cls'] };
  const saved = (deploy: object) =>
    runs.app.as(runs.app.owner).post(201, '/api/environments', {
      repositoryIdentifier: shop.repositoryIdentifier,
      name: 'uat',
      category: 'test',
      orgUsername: shop.org.username,
      deploy,
    });
  const ran = (payload: object) => shop.ran({ environmentName: 'uat', ...payload });
  const deployedInvoice = () => shop.deployments.all.at(-1)?.files.contents.get('classes/Invoice.cls')?.toString();

  test('is deployed with its texts, without what it ignores, and whole when they change', async () => {
    const environment = await saved({
      replacements: [HOST, { find: '%PORT%', replaceWith: '80' }],
      ignoredPaths: ['app/local/**'],
      settings: { testLevel: 'RunLocalTests', ignoreWarnings: false },
    });
    const whole = await ran({ commitId: first });
    expect(whole).toMatchObject({ status: 'Completed', result: { form: 'whole', components: 1 } });
    expect((whole.result as { warnings: string[] }).warnings).toEqual([
      'Nothing that is deployed has "%PORT%", which the environment replaces',
    ]);
    expect(shop.deployments.all[0]?.options).toMatchObject({ testLevel: 'RunLocalTests', ignoreWarnings: false });
    expect(deployedInvoice()).toContain('uat.example.com');
    await expect(ran({ commitId: second, deletions: true, testLevel: 'NoTestRun' })).resolves.toMatchObject({
      result: { form: 'delta', components: 1, deletions: 0, pendingDeletions: 0 },
    });
    expect(shop.deployments.all[1]?.options.testLevel).toBe('NoTestRun');
    await runs.app.as(runs.app.owner).request(200, 'PATCH', `/api/environments/${environment.id}`, {
      body: { deploy: { replacements: [{ ...HOST, replaceWith: 'live.example.com' }] } },
    });
    await expect(ran({ commitId: second })).resolves.toMatchObject({
      result: { form: 'whole', reason: 'The environment has other replacements or ignored paths than before' },
    });
    expect(deployedInvoice()).toContain('live.example.com');
    // What its settings said before says nothing any more.
    const { testLevel = 'NoTestRun', ignoreWarnings } = shop.deployments.all.at(-1)?.options ?? {};
    expect([testLevel, ignoreWarnings]).toEqual(['NoTestRun', true]);
    await expect(ran({ commitId: second })).resolves.toMatchObject({ result: { form: 'nothing' } });
  });

  test('whose deployment fails is deployed whole again', async () => {
    await ran({ commitId: first, orgUsername: shop.org.username, environmentName: undefined });
    await saved({ replacements: [HOST] });
    shop.deployments.problems = [{ pattern: /total/, problem: 'Variable does not exist: total' }];
    await expect(ran({ commitId: second })).resolves.toMatchObject({ status: 'Failed', result: { form: 'whole' } });
    shop.deployments.problems = [];
    await expect(ran({ commitId: second })).resolves.toMatchObject({ status: 'Completed', result: { form: 'whole' } });
  });
});

test('a failure names the file in the repository, and the commit that changed its line', async () => {
  shop.deployments.problems = [{ pattern: /total/, problem: 'Variable does not exist: total' }];
  const { result } = await shop.ran({ commitId: second });
  expect(result).toMatchObject({
    problems: [
      {
        file: 'classes/Invoice.cls',
        line: 3,
        path: 'app/classes/Invoice.cls',
        commit: { sha: second, subject: 'Count invoices', author: expect.any(String), at: expect.any(String) },
      },
    ],
  });
});

test('runs in one org go one after the other, as they came, each upon what the one before left', async () => {
  const release = shop.deployments.occupy();
  const one = await shop.start({ commitId: first });
  await runs.begun(one);
  const two = await shop.start({ commitId: second });
  await eventually(
    () => runs.shown(two),
    ({ waitsFor }) => waitsFor === `Waits for run ${one.id} (install-artifacts) in the same org`,
  );
  const three = await shop.start({ commitId: first, whole: true });
  await eventually(
    () => runs.shown(three),
    ({ waitsFor }) => waitsFor !== null,
  );
  expect(shop.deployments.all).toHaveLength(2);
  release();
  await expect(runs.ended(one)).resolves.toMatchObject({ status: 'Completed' });
  const after = await runs.ended(two);
  expect(after).toMatchObject({ status: 'Completed', waitsFor: null, result: { form: 'delta', baseSha: first } });
  const last = await runs.ended(three);
  expect(shop.deployments.ledger.map(({ id }) => id)).toEqual(
    [await runs.shown(one), after, last].map(({ result }) => (result as { deploymentId: string }).deploymentId),
  );
});

test('the turn of a run that is cancelled goes to the next', async () => {
  shop.deployments.polls.components = 1_000_000;
  const one = await shop.start({ commitId: first });
  await runs.begun(one);
  const two = await shop.start({ commitId: first });
  await eventually(
    () => runs.shown(two),
    ({ waitsFor }) => waitsFor !== null,
  );
  await runs.cancel(one);
  shop.deployments.polls.components = 1;
  await expect(runs.ended(two)).resolves.toMatchObject({ status: 'Completed' });
});

describe('a change set', () => {
  const install = (payload: object) =>
    shop.start({ id: 'install-changeset', changeSetName: 'Spring', testLevel: 'NoTestRun', ...payload });

  test('is retrieved by name from the org in which it was made, and deployed under no name', async () => {
    const source = await runs.addOrg(`source-${shop.org.name}`);
    source.metadata.write('classes/Rate.cls', 'class Rate {}');
    source.outboundSets.set('Spring', [{ name: 'ApexClass', members: ['Rate'] }]);
    await shop.ran({ commitId: first });
    source.fail('html-503', { times: 2, path: /Soap/ });
    const run = await runs.ended(await install({ sourceOrg: source.username }));
    expect(run).toMatchObject({
      status: 'Completed',
      result: { isUnconfirmed: true, changeSetName: 'Spring', components: 1, changes: { created: 1 } },
      steps: [
        { name: 'Retrieve the change set', state: 'succeeded' },
        { name: 'Deploy', state: 'succeeded' },
      ],
    });
    expect(shop.deployments.ledger.at(-1)?.components).toEqual(['ApexClass:Rate']);
    expect(shop.deployments.all.at(-1)?.files.contents.get('package.xml')?.toString()).not.toContain('Spring');
    await expect(shop.ran({ commitId: first })).resolves.toMatchObject({ result: { form: 'whole' } });
  });

  test('is not retrieved from an org that the token does not reach', async () => {
    const source = await runs.addOrg(`source-${shop.org.name}`);
    source.metadata.write('classes/Rate.cls', 'class Rate {}');
    source.outboundSets.set('Spring', [{ name: 'ApexClass', members: ['Rate'] }]);
    const { repositoryIdentifier } = shop;
    const owner = runs.app.as(runs.app.owner);
    const environment = { category: 'test', repositoryIdentifier };
    await owner.post(201, '/api/environments', { ...environment, name: 'uat', orgUsername: shop.org.username });
    const limited = runs.app.as(
      await owner.post(201, '/api/application-tokens', { name: shop.org.name, projects: [repositoryIdentifier] }),
    );
    const order = (status: number) =>
      limited.post(status, '/api/flows/run', {
        payload: {
          id: 'install-changeset',
          changeSetName: 'Spring',
          repositoryIdentifier,
          environmentName: 'uat',
          sourceOrg: source.username,
        },
      });
    // As of one that is not there.
    expect((await order(409)).detail).toContain(`${source.username} of sourceOrg is not registered`);
    await owner.post(201, '/api/environments', { ...environment, name: 'source', orgUsername: source.username });
    await expect(runs.ended(await order(202))).resolves.toMatchObject({ status: 'Completed' });
  });

  test('that the source does not have is no deployment, and one without its source is no work for the service', async () => {
    const source = await runs.addOrg(`source-${shop.org.name}`);
    await expect(install({ sourceOrg: source.username }).then(runs.ended)).resolves.toMatchObject({
      status: 'Failed',
      success: { error: expect.stringContaining('no components of a change set Spring') },
    });
    expect(shop.deployments.all).toEqual([]);
    const refused = await shop.start({ id: 'install-changeset', changeSetName: 'Spring' }, 409);
    expect(refused.detail).toContain('No interface of the platform reaches inbound change sets');
    const unknown = await shop.start(
      { id: 'install-changeset', changeSetName: 'Spring', sourceOrg: 'a@b.example' },
      409,
    );
    expect(unknown.detail).toContain('a@b.example of sourceOrg is not registered');
  });
});
