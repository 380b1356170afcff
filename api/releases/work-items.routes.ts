import { z } from 'zod';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { ITEM_CANDIDATES_MAX, ITEM_COMMITS_MAX, workItemPlaces } from '../../domain/releases/work-item-places.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { Name, RepositoryIdentifier, Timestamp } from '../http/parameters.ts';
import { Commit, RepositoryFreshness } from '../http/changelogs.ts';

const share = {
  presence: z
    .enum(['all', 'some', 'none', 'unknown'])
    .meta({ description: 'How much of its changes is there; unknown: the commit of a package version is not known' }),
  present: z.int().meta({ description: 'Changes that are there: pairs of a commit and a package that it changes' }),
  total: z.int(),
};

const WorkItemPlaces = z
  .object({
    key: z.string(),
    url: z.string().nullable(),
    commits: z.array(
      Commit.omit({ workItems: true }).extend({
        packages: z.array(z.string()),
        isReleasable: z.boolean().meta({
          description:
            'On the default branch, a configured one, or in a candidate; others, say of a branch that was squashed, do not count',
        }),
      }),
    ),
    totalCommits: z.int(),
    isTruncated: z.boolean(),
    pullRequests: z.array(z.int()),
    domains: z.array(
      z.object({
        domain: z.string(),
        packages: z.array(z.string()),
        candidates: z.array(
          z.object({
            id: z.string(),
            releaseName: z.string(),
            branch: z.string().nullable(),
            status: z.string(),
            createdAt: Timestamp,
            ...share,
            isNew: z
              .boolean()
              .meta({ description: 'It has more of the work item than the candidate before it on its branch' }),
          }),
        ),
        environments: z.array(
          z.object({
            environmentId: z.string(),
            name: z.string(),
            category: z.string(),
            ...share,
            firstArrivedAt: z.string().nullable().meta({ description: 'When the first of its changes came' }),
            arrivedAt: z
              .string()
              .nullable()
              .meta({ description: 'When the last of them came; null as long as any is missing' }),
            releaseName: z.string().nullable().meta({ description: 'The release by which it was complete there' }),
          }),
        ),
        missingFromEnvironments: z
          .array(z.string())
          .meta({ description: 'Active release environments that miss some of it' }),
      }),
    ),
    missingDomains: z
      .array(z.string())
      .meta({ description: 'Domains that miss some of it in an active release environment' }),
    packagesWithoutDomain: z.array(z.string()),
    repository: RepositoryFreshness,
  })
  .meta({ id: 'WorkItemPlaces' });

export const workItemsRoutes = [
  defineRoute({
    operationId: 'locateWorkItem',
    method: 'get',
    path: '/api/releases/work-items/{key}',
    group: 'Releases',
    summary: 'Where a work item is: its commits, the candidates and environments that have it, and since when',
    description: [
      'A work item consists of the changes of the commits that name it, to packages of the repository; when only merges name it, of what they brought to their first parents. A candidate or an environment has a change when the commit of its version of the package is that commit or descends from it.',
      'A domain is concerned when changed packages are listed for it, or its candidates hold them. A change that was picked onto another branch is another commit: both count.',
      `Looked at are the newest ${ITEM_COMMITS_MAX} commits that name it, and the newest ${ITEM_CANDIDATES_MAX} candidates of each domain. A key that no commit names is nowhere yet: empty lists.`,
    ].join('\n\n'),
    roles: ANY_ROLE,
    params: z.object({ key: Name }),
    query: z.strictObject({ repositoryIdentifier: RepositoryIdentifier }),
    status: 200,
    response: WorkItemPlaces,
    handle: (
      { params: { key }, query: { repositoryIdentifier } },
      {
        tx,
        adapters: {
          git: { commitGraphs },
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        return workItemPlaces(work, await commitGraphs(work, project.id), project, key);
      }),
  }),
];
