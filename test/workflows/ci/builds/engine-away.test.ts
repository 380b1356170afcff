import { buildImpactsSweep } from '../../../../activities/ci/builds/build-impacts.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { purgeAll } from '../../../../domain/kernel/system/purges.queries.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertCommits } from '../../../support/factories.ts';
import { engineAway } from '../../../support/launch.ts';
import { pushHook, sent } from '../../../simulators/host-hooks.ts';

let app: TestApp;
let deps: ReturnType<typeof activityDeps>;
beforeAll(async () => {
  app = await testApp({ launch: engineAway, commands: ['build'] });
  deps = activityDeps(app);
});
afterAll(async () => {
  await deps.close();
  await app.close();
});

test('while the engine is away previews, builds and hooks are taken all the same, and the sweep starts what was asked for', async () => {
  const repositoryIdentifier = 'acme/shop';
  const owner = app.as(app.owner);
  const { id: projectId } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  const [commitId = ''] = await insertCommits(app, projectId);
  const { impact } = await owner.get(
    200,
    `/api/builds/preview?${new URLSearchParams({ repositoryIdentifier, branchName: 'main', commitId })}`,
  );
  await expect(
    owner.post(202, '/api/builds/run', { repositoryIdentifier, branchName: 'main', commitId }),
  ).resolves.toMatchObject({ outcome: 'started' });
  const { secret } = await owner.post(201, '/api/projects/acme%2Fshop/hook-secret');
  const { path, headers, rawBody } = sent(pushHook('host-a', { repository: repositoryIdentifier, commitId }), secret);
  await app.as().request(202, 'POST', path, { headers, rawBody });

  const started: unknown[] = [];
  const sweep = () =>
    runSweep(
      { ...deps.deps, launch: { ...engineAway, start: async (_, input) => void started.push(input) } },
      buildImpactsSweep,
    );
  await expect(sweep()).resolves.toMatchObject({ found: 0 });
  await app.sql(`update build_preview set requested_at = now() - interval '1 minute'`);
  await expect(sweep()).resolves.toMatchObject({ handled: 1 });
  expect(started).toEqual([
    { ...app.tenantKey, projectId, repositoryIdentifier, previewKey: impact.previewKey, generation: 1 },
  ]);
});

test.each([
  ['hooks', 'hook_delivery', 'received_at', '9 days', 'purge_hook_deliveries'] as const,
  ['previews', 'build_preview', 'requested_at', '31 days', 'purge_build_previews'] as const,
])('%s are forgotten in time', async (_, table, column, age, chore) => {
  const [known] = await app.sql<{ count: string }>(`select count(*) from ${table}`);
  expect(known?.count).toBe('1');
  const purge = () => purgeAll(deps.deps.system, chore);
  await expect(purge()).resolves.toBe(0);
  await app.sql(`update ${table} set ${column} = now() - interval '${age}'`);
  await expect(purge()).resolves.toBe(1);
});
