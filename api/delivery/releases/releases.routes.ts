import { z } from 'zod';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { listReleases } from '../../../domain/delivery/releases/release-list.ts';
import { annotateRollback } from '../../../domain/delivery/releases/releases.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Name, NoContent, queryFlag, queryInt, RepositoryIdentifier } from '../../http/parameters.ts';
import { JsonText, pageReply } from '../../http/replies.ts';
import { releaseListText } from './release-list-text.ts';
import { Releases, RollbackIn } from './releases.schemas.ts';

const GROUP = 'Releases';

export const releasesRoutes = [
  defineRoute({
    operationId: 'listReleases',
    method: 'get',
    path: '/api/releases',
    group: GROUP,
    summary: 'List the releases of a repository, most recently deployed first',
    description: [
      'A release is what has been deployed under one name in one domain, with its record in each environment. `activeOnly` limits the list to releases that currently run in at least one active environment: that of the last success in a domain, those of later parts, and earlier ones from which packages still run that it left open.',
      'Changelogs are computed once and cached; `force` recomputes them. Unknown commits are reported as missing.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      domain: Name.optional(),
      releaseName: Name.optional(),
      includeChangelog: queryFlag(false),
      activeOnly: queryFlag(true),
      limit: queryInt(1, 200, 50),
      offset: queryInt(0, 10_000_000, 0),
      force: queryFlag(false),
      skipLockStatus: queryFlag(true),
      includeApprovals: queryFlag(false),
    }),
    status: 200,
    response: Releases,
    handle: (
      { query },
      {
        tx,
        adapters: {
          git: { commitGraphs },
          releases: { deploymentLogs },
        },
        requestUrl,
      },
    ) =>
      tx(async (work) => {
        const { repositoryIdentifier, domain, releaseName, includeChangelog, activeOnly, limit, offset } = query;
        const project = await projectInRequest(work, repositoryIdentifier);
        const history = includeChangelog ? await commitGraphs(work, project.id) : undefined;
        const log = await deploymentLogs(work, project.id);
        const { releases, total, changelogStats } = await listReleases(work, history, log, project, {
          domain,
          releaseName,
          activeOnly,
          isForced: query.force,
          includeApprovals: query.includeApprovals,
          includeLockStatus: !query.skipLockStatus,
          limit,
          offset,
        });
        const body = {
          repositoryIdentifier,
          releases,
          totalCount: total,
          changelogStats,
          retrievedAt: work.now,
          filters: { domain: domain ?? null, includeChangelog },
          repository: history?.freshness ?? null,
        };
        return pageReply(requestUrl, { limit, offset, total }, new JsonText(releaseListText(body)));
      }),
  }),
  defineRoute({
    operationId: 'annotateRollback',
    method: 'post',
    path: '/api/releases/rollback-annotation',
    group: GROUP,
    summary: 'Record that a release was rolled back in an environment',
    description:
      'Marks the record of the target release as the result of a rollback and stores its changes. The release that was rolled back, and those between the two, no longer count as deployed in the environment, neither as installed nor for finalization. A rollback that is reported late carries its time in `rolledBackAt`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    body: RollbackIn,
    status: 204,
    response: NoContent,
    errors: ['ambiguous'],
    audit: 'release.rolled_back',
    handle: ({ body: { repositoryIdentifier, ...report } }, { tx }) =>
      tx(async (work) => annotateRollback(work, await projectInRequest(work, repositoryIdentifier), report)),
  }),
];
