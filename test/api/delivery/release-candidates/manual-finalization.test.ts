import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { cutRelease } from '../../../support/releases.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
});
afterAll(() => app.close());

let names = 0;
const allow = (manualFinalization: string | null) =>
  app.as(app.owner).patch(200, `/api/projects/${encodeURIComponent(repositoryIdentifier)}`, {
    configuration: { manualFinalization },
  });

/** Every way to finalize a candidate by hand. */
const WAYS: Record<string, (caller: Bearer, status: number) => Promise<Json>> = {
  'by id': async (caller, status) => {
    const { id } = await cutRelease(app, repositoryIdentifier, `r${++names}`);
    return app.as(caller).patch(status, `/api/release-candidates/${id}/status`, { status: 'finalized' });
  },
  'by name': async (caller, status) => {
    const releaseName = `r${++names}`;
    await cutRelease(app, repositoryIdentifier, releaseName);
    const body = { repositoryIdentifier, domain: 'core', releaseName, status: 'finalized' };
    return app.as(caller).patch(status, '/api/release-candidates/status-by-name', body);
  },
  'as it is created': (caller, status) =>
    app.as(caller).post(status, '/api/release-candidates', {
      repositoryIdentifier,
      domain: 'core',
      releaseName: `r${++names}`,
      commitSha: 'a'.repeat(40),
      status: 'finalized',
      value: { artifacts: {} },
    }),
  'as it is posted again': async (caller, status) => {
    const releaseName = `r${++names}`;
    await cutRelease(app, repositoryIdentifier, releaseName);
    return app.as(caller).post(status, '/api/release-candidates', {
      repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha: 'a'.repeat(40),
      status: 'finalized',
      value: { artifacts: { app: '1.0.0-1' } },
    });
  },
};

test.each(Object.entries(WAYS))(
  'a candidate is finalized %s by those whom the project lets',
  async (name, finalize) => {
    const done = name.startsWith('by') ? 200 : 201;
    await allow(null);
    for (const caller of [app.member, app.application]) await finalize(caller, done);
    await allow('owner');
    for (const caller of [app.member, app.application])
      expect(await finalize(caller, 409)).toMatchObject({
        code: 'invalid_transition',
        detail: expect.stringMatching(/^Only owners/),
      });
    await finalize(app.owner, done);
    await allow('never');
    expect((await finalize(app.owner, 409)).detail).toMatch(/by their deployments only/);
  },
);

test('other moves stay free, and a setting that is none is refused', async () => {
  await allow('never');
  const { id } = await cutRelease(app, repositoryIdentifier, `r${++names}`);
  for (const status of ['in_progress', 'aborted'])
    await app.as(app.member).patch(200, `/api/release-candidates/${id}/status`, { status });
  const path = `/api/projects/${encodeURIComponent(repositoryIdentifier)}`;
  const { errors } = await app.as(app.owner).patch(400, path, { configuration: { manualFinalization: 'nobody' } });
  expect(errors[0].pointer).toBe('#/body/configuration/manualFinalization');
});
