import { buildSource } from '../../../../activities/delivery/source/build-source.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp } from '../../../support/app.ts';
import { newRepository } from '../../../support/repository.ts';
import { sourceOf } from '../../../support/source-builds.ts';

test('a project is built from its own remote; one without a remote, or that is gone, says so', async () => {
  const app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  const backend = activityDeps(app);
  const remote = newRepository();
  try {
    const commitSha = remote.commit({
      files: { ...sourceOf.project([{ path: 'app' }]), ...sourceOf.apexClass('app', 'Rater') },
    });
    const project = (body: object) => app.as(app.owner).post(201, '/api/projects', { platform: 'host-a', ...body });
    const build = (projectId: string) =>
      buildSource(
        backend.deps,
        {
          tenantId: app.tenant.id,
          tenantSlug: 'test',
          projectId,
          commitSha,
          baseSha: null,
          deletions: false,
          apiVersion: '64.0',
        },
        new AbortController().signal,
      );
    const { id } = await project({ identifier: 'acme/shop', remoteUrl: remote.path });
    const answer = await build(id);
    if (!answer.isOk) throw new Error(answer.reason);
    expect(answer.value).toMatchObject({ form: 'whole', components: [{ fullName: 'Rater', package: 'app' }] });
    expect(answer.value.object?.startsWith(`${app.tenant.id}/`)).toBe(true);
    await expect(backend.deps.objects.sizeOf(answer.value.object ?? '')).resolves.toBe(answer.value.bytes);
    const { id: bare } = await project({ identifier: 'acme/bare' });
    await expect(build(bare)).resolves.toEqual({ isOk: false, reason: 'The project acme/bare has no remoteUrl' });
    await expect(build(newId())).resolves.toEqual({ isOk: false, reason: 'The project was removed' });
  } finally {
    await backend.close();
    await app.close();
    remote.remove();
  }
});
