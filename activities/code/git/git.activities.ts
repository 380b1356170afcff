import { remoteOf } from './fetched-commits.ts';
import { isForPeople } from '../../../domain/code/git/mirror/fetch-failure-rules.ts';
import { beginFetch, noteFailure, noteSuccess } from '../../../domain/code/git/mirror/mirror.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { MirrorInput, MirrorReport } from '../../../workflows/code/git/git-mirror.contract.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import type { Deps } from '../../deps.ts';
import { importFacts } from './import-facts.ts';

export const createGitActivities = (deps: Deps) => ({
  /**
   * Fetches a project's repository and brings the facts about it up to date. Does nothing for a project without a
   * remote. Answers whether the remote could be read; what is known of it stays when it could not.
   */
  syncMirror: ({ tenantId, tenantSlug, projectId }: MirrorInput): Promise<MirrorReport> =>
    withHeartbeat(async (signal) => {
      const { actingAs, encryption, git, now } = deps;
      const tx = actingAs(systemActor({ tenantId, tenantSlug }, 'git-mirror'));
      const state = await tx((work) => beginFetch(work, projectId));
      if (!state || state.remoteUrl === null) return { outcome: 'nothing' };
      const { remoteUrl, platform, repositoryIdentifier } = state;
      const remote = await remoteOf(tx, encryption, { projectId, platform, remoteUrl, repositoryIdentifier });
      const fetchedAt = now();
      const result = await git.mirrors.fetch({ tenantId, projectId }, remote, signal);
      if (result.outcome === 'failed') {
        const { reason } = result;
        await tx(async (work) => {
          await noteFailure(work, projectId, reason);
          work.touch('git_mirror', projectId, repositoryIdentifier);
        });
        return { outcome: 'failed', reason, isNewsForPeople: isForPeople(reason) && reason !== state.errorBefore };
      }
      await importFacts(deps, { tenantId, tenantSlug, projectId }, state, remote);
      await tx(async (work) => {
        await noteSuccess(work, projectId, fetchedAt, git.fetchEverySeconds);
        work.touch('git_mirror', projectId, repositoryIdentifier);
      });
      return { outcome: 'fetched' };
    }),
});
export type GitActivities = ReturnType<typeof createGitActivities>;
