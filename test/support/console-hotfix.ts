import { type ConsoleStage, consoleStage } from './console.ts';
import { releaseStage } from './release-stage.ts';
import { removeRepositories } from './repository.ts';
import { startWorker } from './worker.ts';

export interface HotfixStage extends ConsoleStage {
  repositoryIdentifier: string;
}

/**
 * The console with a release r1 (SHOP-1) in uat and prod, a fix of it (r1-fix, SHOP-50) that only prod has, and the next release
 * r2 (SHOP-52), which lacks the fix.
 */
export async function hotfixStage(): Promise<HotfixStage> {
  const stage = await consoleStage({ env: { ALLOW_LOCAL_GIT: 'true' } });
  const { app } = stage;
  const worker = await startWorker(app, ['git-v1', 'releases-v1']);
  const { remote, project, cut, deploy } = await releaseStage(app);
  const { repositoryIdentifier } = project;
  const first = await cut('r1', { app: '1.0.0', lib: '1.0.0' }, { message: 'SHOP-1: first (#1)' });
  await deploy('r1', 'uat');
  await deploy('r1', 'prod');
  const fix = { branch: 'hotfix', from: first.commitSha, files: { 'app/fix': '1' }, message: 'SHOP-50: urgent (#50)' };
  const commitSha = remote.commit(fix);
  await project.fetch();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1-fix',
    commitSha,
    value: { artifacts: { app: '1.0.1', lib: '1.0.0' } },
  });
  await deploy('r1-fix', 'prod');
  await cut('r2', { app: '1.1.0', lib: '1.1.0' }, { message: 'SHOP-52: new (#52)' });
  return {
    ...stage,
    repositoryIdentifier,
    async close() {
      await worker.stop();
      await stage.close();
      removeRepositories();
    },
  };
}
