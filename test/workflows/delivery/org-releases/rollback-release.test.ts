import { orgReleases } from '../../../support/org-releases.ts';
import type { Json } from '../../../support/client.ts';

const given = orgReleases();
const { ran, cut, commit, recorded, ledger } = given;
const rollBack = (more: object = {}): Promise<Json> => ran({ id: 'rollback-release', ...more });
const states = ({ steps }: Json) => (steps as Json[]).map(({ name, state }) => `${name}: ${state}`);

test('a rollback of source deploys what was there before, and deletes what came since where that is allowed', async () => {
  const first = commit({ Invoice: '' });
  await cut('r1', first);
  await cut('r2', commit({ Invoice: ' Integer total; ', New: '' }));
  await ran({ releaseName: 'r1' });
  await ran({ releaseName: 'r2' });
  const partly = await rollBack();
  expect(partly).toMatchObject({
    status: 'Partial',
    success: { error: expect.stringContaining('ApexClass New') },
    result: {
      form: 'delta',
      commitSha: first,
      cannotDo: [expect.stringContaining('deletions: true'), expect.any(String)],
    },
  });
  expect(await recorded(partly)).toMatchObject([{ status: 'Partial', release: 'r1' }]);
  expect(await given.output(partly)).toContain('Cannot be taken back: Data stays as it is');
  const whole = await rollBack({ deletions: true });
  expect(whole).toMatchObject({ status: 'Completed', result: { deletions: 1 } });
  expect(await recorded(whole)).toMatchObject([{ status: 'Success', release: 'r1' }]);
  expect(ledger().slice(-2)).toEqual(['ApexClass:Invoice', '-ApexClass:New']);
  const [back] = await given.app.sql<Json>(
    `select d.rolled_back_at from release_deployment d join project p on p.id = d.project_id
     where d.release_name = 'r2' and p.identifier = ?`,
    [given.repositoryIdentifier],
  );
  expect(back?.rolled_back_at).not.toBeNull();
});

test('packages that cannot go back stay, which is said before and after', async () => {
  const { packages } = given.org;
  const before = packages.offer('Sales', { number: [1, 0, 0, 1] });
  const after = packages.offer('Sales', { of: before, number: [1, 1, 0, 1] });
  const extra = packages.offer('Extra');
  const versions = [before, after, extra];
  await cut('r1', commit({ Invoice: '' }, versions), { Sales: '1.0.0' });
  await cut('r2', commit({ Invoice: ' Integer total; ' }, versions), { Sales: '1.1.0', Extra: '1.0.0' });
  await ran({ releaseName: 'r1' });
  await ran({ releaseName: 'r2' });
  const { repositoryIdentifier } = given;
  const payload = {
    id: 'rollback-release',
    repositoryIdentifier,
    domain: 'core',
    environmentName: 'uat',
    deletions: true,
  };
  const dry = await given.app.as(given.app.owner).post(200, '/api/flows/run?dryRun=true', { payload });
  expect(dry).toMatchObject({
    wouldStart: true,
    executor: 'activity',
    cannotDo: [
      'Extra 1.0.0 stays: a rollback uninstalls nothing',
      expect.stringContaining('Sales 1.1.0 stays unless it is source'),
      expect.stringContaining('Data stays'),
    ],
  });
  const run = await rollBack({ deletions: true });
  expect(run).toMatchObject({
    status: 'Partial',
    success: { error: expect.stringContaining('Sales 1.1.0.1, Extra 1.0.0') },
    result: {
      packages: [
        { name: 'Sales', outcome: 'stays', reason: expect.stringContaining('the org has the later 1.1.0.1') },
        { name: 'Extra', outcome: 'stays' },
      ],
      cannotDo: [
        expect.stringContaining('Sales 1.1.0.1 stays, not 1.0.0.1: the org has the later'),
        'Extra 1.0.0 stays: a rollback uninstalls nothing',
        expect.stringContaining('Data stays'),
      ],
    },
  });
  expect(states(run)).toEqual([
    'Install Sales 1.0.0.1: skipped',
    'Uninstall Extra 1.0.0: skipped',
    'Build the source: succeeded',
    'Deploy: succeeded',
  ]);
  expect(await recorded(run)).toMatchObject([{ status: 'Partial', release: 'r1', installed: {} }]);
  expect(packages.ledger.map(({ versionId }) => versionId)).toEqual([before.id, extra.id, after.id]);
});

test('where nothing of it can go back, it is refused before anybody approves it', async () => {
  const { packages } = given.org;
  const before = packages.offer('Sales', { number: [1, 0, 0, 1] });
  const after = packages.offer('Sales', { of: before, number: [1, 1, 0, 1] });
  const files = { 'sfdx-project.json': JSON.stringify({ packageDirectories: [{ path: 'sales', package: 'Sales' }] }) };
  const commitSha = given.repository.commit({ files });
  await cut('r1', commitSha, { Sales: before.id });
  await cut('r2', commitSha, { Sales: after.id });
  await ran({ releaseName: 'r1' });
  await ran({ releaseName: 'r2' });
  const owner = given.app.as(given.app.owner);
  const [uat] = (await owner.get(
    200,
    `/api/environments?repositoryIdentifier=${given.repositoryIdentifier}`,
  )) as unknown as Json[];
  await owner.patch(200, `/api/environments/${uat?.id}`, { approvalPolicy: { allowSelfApproval: true } });
  const run = await rollBack();
  expect(run).toMatchObject({
    status: 'Failed',
    steps: [],
    success: {
      error: expect.stringContaining('Nothing can be taken back to r1: Sales 1.1.0.1: the org has the later'),
    },
  });
  expect(await given.app.sql('select id from approval where run_id = ?', [run.id])).toEqual([]);
  expect(await recorded(run)).toEqual([]);
});
