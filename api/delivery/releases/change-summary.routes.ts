import { z } from 'zod';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { ARRIVALS_MAX, changeSummary } from '../../../domain/delivery/releases/changelogs/change-summary.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { DateTime, Name, RepositoryIdentifier } from '../../http/parameters.ts';
import { Bases, NoLongerIncludedKeys, RepositoryFreshness, SideKeys, SideSummary } from '../changelogs.ts';

const Summary = z.object({
  repositoryIdentifier: z.string(),
  filters: z.object({
    domain: z.string().nullable(),
    environmentName: z.string().nullable(),
    fromReleaseName: z.string().nullable(),
    toReleaseName: z.string().nullable(),
    since: z.string().nullable(),
    until: z.string().nullable(),
  }),
  summary: z.object({
    totalReleases: z.int(),
    totalCommits: z.int(),
    totalWorkItems: z.int(),
    totalPackageChanges: z.int(),
    added: SideSummary,
    removed: SideSummary,
  }),
  workItems: z.array(z.object({ key: z.string(), url: z.string().nullable(), releases: z.array(z.string()) })),
  releases: z.array(
    z.object({
      releaseName: z.string(),
      domain: z.string(),
      matchedDeploymentDates: z.array(z.string()),
      matchedEnvironments: z.array(z.string()),
      bases: Bases,
      workItems: z.array(z.string()),
      packageChanges: z.array(
        z.object({
          packageName: z.string(),
          changeType: z.enum(['added', 'updated', 'downgraded', 'removed']),
          fromVersion: z.string().nullable(),
          toVersion: z.string().nullable(),
          commits: z.int(),
          workItems: z.array(z.string()),
          added: SideKeys,
          removed: SideKeys,
        }),
      ),
      added: SideKeys,
      removed: SideKeys,
      noLongerIncluded: NoLongerIncludedKeys,
    }),
  ),
  missingChangelogReleases: z.array(z.object({ releaseName: z.string(), domain: z.string() })),
  unmatchedRanges: z.array(z.string()),
  repository: RepositoryFreshness,
});

export const changeSummaryRoutes = [
  defineRoute({
    operationId: 'getChangeSummary',
    method: 'get',
    path: '/api/releases/change-summary',
    group: 'Releases',
    summary: 'Summarize the changes of a range of releases or a period',
    description: [
      `Each release is compared, in each environment (or the one given), with what that environment ran before the release was deployed to it, rollbacks and repeated deployments taken into account. Environments in which it changed the same share an entry; \`bases\` names them and the release that ran before. A release that is deployed again after another one has an entry of its own for that. Covers the newest ${ARRIVALS_MAX} of these deployments.`,
      'By release: from `fromReleaseName` (exclusive) to `toReleaseName` (inclusive), in each environment that has both. By date: releases with a successful deployment from `since` to `until`, both inclusive. Totals count distinct commits and work items.',
      '`added` is what `git log` lists from the previous version to this one, `removed` the other way round: both have commits where a hotfix diverged, a downgrade has `removed` ones. `commits` and `workItems` of a package change are those of its `added` side, for a downgrade of its `removed` side.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      domain: Name.optional(),
      environmentName: Name.optional(),
      fromReleaseName: Name.optional(),
      toReleaseName: Name.optional(),
      since: DateTime.optional(),
      until: DateTime.optional(),
    }),
    status: 200,
    response: Summary,
    handle: (
      { query: { repositoryIdentifier, since, until, ...names } },
      {
        tx,
        adapters: {
          git: { commitGraphs },
          releases: { deploymentLogs },
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const history = await commitGraphs(work, project.id);
        const log = await deploymentLogs(work, project.id);
        const { domain = null, environmentName = null, fromReleaseName = null, toReleaseName = null } = names;
        return {
          repositoryIdentifier,
          filters: {
            domain,
            environmentName,
            fromReleaseName,
            toReleaseName,
            since: since?.toISOString() ?? null,
            until: until?.toISOString() ?? null,
          },
          ...(await changeSummary(work, history, log, project, { ...names, since, until })),
        };
      }),
  }),
];
