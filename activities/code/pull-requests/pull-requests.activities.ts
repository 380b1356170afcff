import { activityInfo } from '@temporalio/activity';
import type { PullRequestHost } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import { beginRefresh } from '../../../domain/code/pull-requests/refresh.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { PullRequestsInput, RefreshReport } from '../../../workflows/code/pull-requests/pull-requests.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { compareChanges } from './compare-changes.ts';
import { readList } from './read-list.ts';

export type PullRequestActivities = ReturnType<typeof createPullRequestActivities>;

export const createPullRequestActivities = ({ actingAs, git, now }: Deps) => ({
  /** Reads a project's pull requests from its host when that is due, and looks at what they change. */
  refreshPullRequests: ({ tenantId, tenantSlug, projectId }: PullRequestsInput): Promise<RefreshReport> =>
    withHeartbeat(async (signal) => {
      const tenant = { tenantId, tenantSlug };
      const tx = actingAs(systemActor(tenant, 'pull-requests'));
      const begun = await tx((work) => beginRefresh(work, projectId));
      if (!begun) return { outcome: 'none', listed: 0, compared: 0 };
      const { project } = begun;
      const parts = { tx, now, signal };
      let host: Promise<PullRequestHost | undefined> | undefined;
      const findHost = () =>
        (host ??= git.findPullRequestHost({
          ...tenant,
          projectId,
          platform: project.platform,
          purpose: `pull requests of ${project.identifier}`,
        }));
      // A repetition goes on with what a lost worker had begun.
      const isListDue = begun.isListDue || activityInfo().attempt > 1;
      const read = isListDue
        ? await readList(parts, begun, await findHost())
        : ({ outcome: 'none', listed: 0 } as const);
      // A host that could not be read is not asked further.
      const hostForChanges = read.outcome === 'failed' ? async () => undefined : findHost;
      const compared = await compareChanges(parts, git.mirrors, { ...project, tenantId }, hostForChanges);
      return { ...read, compared };
    }),
});
