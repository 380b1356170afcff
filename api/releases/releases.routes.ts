import { z } from 'zod';
import { environmentByName } from '../../domain/environments/environments.queries.ts';
import { lockStatuses } from '../../domain/environment-locks/environment-locks.queries.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { listReleases } from '../../domain/releases/release-list.ts';
import { approvalsOfReleases } from '../../domain/releases/releases.queries.ts';
import { annotateRollback } from '../../domain/releases/rollback.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { Name, NoContent, queryFlag, queryInt, RepositoryIdentifier } from '../http/parameters.ts';
import { pageReply } from '../http/replies.ts';
import { Releases, RollbackIn } from './releases.schemas.ts';

const GROUP = 'Releases';

export const releasesRoutes = [
  defineRoute({
    operationId: 'listReleases',
    method: 'get',
    path: '/api/releases',
    group: GROUP,
    summary: 'Releases of a repository with their records in its environments, those deployed last first',
    description: [
      'A release is what was deployed under one name in one domain. With `activeOnly`, only releases that run at this moment in at least one active environment.',
      'Changelogs are computed once and kept; `force` computes them anew. Commits that are not known are said to be missing.',
    ].join('\n\n'),
    roles: ANY_ROLE,
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
        },
        requestUrl,
      },
    ) =>
      tx(async (work) => {
        const { repositoryIdentifier, domain, releaseName, includeChangelog, activeOnly, limit, offset } = query;
        const project = await projectInRequest(work, repositoryIdentifier);
        const history = includeChangelog ? await commitGraphs(work, project.id) : undefined;
        const options = { domain, releaseName, activeOnly, includeChangelog, isForced: query.force, limit, offset };
        const { releases, records, total, changelogStats } = await listReleases(work, history, project, options);
        const environmentIds = [...new Set(records.map(({ environmentId }) => environmentId))];
        const lockStatus = query.skipLockStatus ? undefined : await lockStatuses(work, environmentIds);
        const names = releases.map((release) => ({ domain: release.domain, releaseName: release.name }));
        const approvalOf = query.includeApprovals ? await approvalsOfReleases(work, project.id, names) : undefined;
        const body = {
          repositoryIdentifier,
          releases: releases.map((release) => ({
            ...release,
            environments: release.environments.map(({ record, ...rest }) => ({
              ...record,
              ...rest,
              approval: approvalOf ? approvalOf(record) : null,
              lockStatus: lockStatus ? { ...lockStatus(record.environmentId) } : null,
            })),
            releaseDefinition: release.releaseDefinition as Record<string, unknown> | null,
          })),
          totalCount: total,
          changelogStats,
          retrievedAt: work.now,
          filters: { domain: domain ?? null, includeChangelog },
          repository: history?.freshness ?? null,
        };
        return pageReply(requestUrl, { limit, offset, total }, body);
      }),
  }),
  defineRoute({
    operationId: 'annotateRollback',
    method: 'post',
    path: '/api/releases/rollback-annotation',
    group: GROUP,
    summary: "Mark a release's record in an environment as the result of a rollback",
    description:
      'Keeps the delta of the way back. The release that was taken back, and those between the two, no longer count as deployed there: not for what is installed, and not for finalization.',
    roles: ANY_ROLE,
    body: RollbackIn,
    status: 204,
    response: NoContent,
    errors: ['ambiguous'],
    audit: 'release.rolled_back',
    async handle({ body: { repositoryIdentifier, environment: name, ...report } }, { tx }) {
      await tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const environment = await environmentByName(work, project.id, name);
        if (!environment) throw notFound(`The environment ${name}`);
        await annotateRollback(work, project, environment, report);
      });
    },
  }),
];
