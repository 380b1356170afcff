import {
  commitsOfMany,
  versionCommits,
} from '../../../../domain/delivery/releases/versions/package-versions.queries.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertCommits } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';
import { cutRelease } from '../../../support/releases.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

test('the commits of many versions are those that are found for each of them', async () => {
  const { id: projectId } = await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const shas = await insertCommits(app, projectId, 6);
  for (const [index, artifacts] of [
    { app: '1.0.0-1', base: '1.0.0-1' },
    { app: '1.0.0-2', base: '1.0.0-1' },
    { app: '1.0.0-3', base: '1.0.0-2' },
  ].entries())
    await cutRelease(app, repositoryIdentifier, `r${index}`, { commitSha: shas[index], value: { artifacts } });
  await cutRelease(app, repositoryIdentifier, 'unknown', { value: { artifacts: { app: '1.0.0-4' } } });
  await cutRelease(app, repositoryIdentifier, 'later', {
    commitSha: shas[5],
    value: { artifacts: { app: '1.0.0-5' } },
  });
  await app.db
    .insertInto('git_ref')
    .values(
      [
        ['app_v1.0.0.2', shas[3]],
        ['base_v1.0.0.2', shas[5]],
        ['app_v9.0.0.1', shas[4]],
      ].map(([name = '', sha = '']) => ({ tenantId: app.tenant.id, projectId, kind: 'tag' as const, name, sha })),
    )
    .execute();
  const versions = ['app', 'base', 'none'].flatMap((name) =>
    ['1.0.0-1', '1.0.0-2', '1.0.0-3', '1.0.0-4', '1.0.0-5', '9.0.0-1'].map((version) => ({ name, version })),
  );
  // The last commit came after the history was read.
  const history = { projectId, graph: { known: (commit?: number) => (commit === 5 ? undefined : commit) } };
  const reads = { db: app.db, tenantId: app.tenant.id };
  const { of } = await versionCommits(reads, history, versions);
  const ofMany = await commitsOfMany(reads, history, versions);
  const found = Object.fromEntries(
    versions.flatMap((each) => (of(each) === undefined ? [] : [[`${each.name} ${each.version}`, of(each)]])),
  );
  expect(found).toEqual({
    'app 1.0.0-1': 0,
    'app 1.0.0-2': 3,
    'app 1.0.0-3': 2,
    'app 9.0.0-1': 4,
    'base 1.0.0-1': 0,
  });
  expect(versions.map(ofMany)).toEqual(versions.map(of));
});
