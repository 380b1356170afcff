import type { Json } from '../../../support/client.ts';
import { packageRuns } from '../../../support/package-runs.ts';

const given = packageRuns();
const ran = async (packages: readonly string[]): Promise<Json> =>
  given.ended(await given.start({ id: 'uninstall-packages', packages }));
const isAsked = /UninstallRequest$/;
/** Base and what needs it, both installed. */
const pair = () => {
  const base = given.packages.offer('Base', { key: 'sesame' });
  const top = given.packages.offer('Top', { needs: [base.id] });
  for (const version of [base, top]) given.packages.has(version);
  return { base, top };
};

test('packages are uninstalled before what they need, by name or id', async () => {
  const { base, top } = pair();
  const run = await ran(['base', top.id]);
  expect(run).toMatchObject({
    status: 'Completed',
    result: {
      packages: [
        { name: 'Top', outcome: 'uninstalled', before: '1.0.0.1', requestId: expect.stringMatching(/^06y/) },
        { name: 'Base', outcome: 'uninstalled' },
      ],
    },
    steps: [{ name: 'Uninstall Top 1.0.0.1' }, { name: 'Uninstall Base 1.0.0.1' }],
  });
  expect(given.packages.ledger.map(({ versionId }) => versionId)).toEqual([top.id, base.id]);
  expect(given.packages.installed.size).toBe(0);
});

test('an alias means the version that it names; nothing is begun where a package is not there', async () => {
  const { base } = pair();
  const manifest = { packageAliases: { 'Base@1.0.0-1': base.id, 'Gone@1.0.0-1': '04t000000000001' } };
  given.repository.commit({ files: { 'sfdx-project.json': JSON.stringify(manifest) } });
  await expect(ran(['Base@1.0.0-1', 'Gone@1.0.0-1', 'Nothing'])).resolves.toMatchObject({
    status: 'Failed',
    success: { error: 'The org has no package Gone@1.0.0-1; The org has no package Nothing' },
    steps: [],
  });
  await expect(ran(['Base@1.0.0-1'])).resolves.toMatchObject({ status: 'Completed' });
});

test('an uninstallation that fails says all its reasons, and its answer that is lost is found', async () => {
  const { base, top } = pair();
  given.packages.failures.push(['Field A is in use', 'Page B is in use']);
  given.org.fail('lost', { path: isAsked });
  await expect(ran([top.name, base.name])).resolves.toMatchObject({
    status: 'Failed',
    success: { error: 'Uninstall Top 1.0.0.1: Field A is in use; Page B is in use' },
    result: { packages: [{ outcome: 'failed' }, { outcome: 'not_begun' }] },
  });
  expect(given.packages.ledger.map(({ versionId }) => versionId)).toEqual([top.id]);
});

test('a run that names nothing is refused', async () => {
  await expect(given.start({ id: 'uninstall-packages' }, 409)).resolves.toMatchObject({ code: 'flow_unavailable' });
});
