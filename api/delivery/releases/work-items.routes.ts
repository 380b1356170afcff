import { z } from 'zod';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import {
  ITEM_CANDIDATES_MAX,
  ITEM_COMMITS_MAX,
  workItemPlaces,
} from '../../../domain/delivery/releases/places/work-item-places.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { Name, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';
import { Commit, RepositoryFreshness } from '../changelogs.ts';

const share = {
  presence: z.enum(['all', 'some', 'none', 'unknown']).meta({
    description:
      'How many of the changes are included. `all` also where what is missing came by other commits, such as cherry-picks; `unknown`: the commit of a package version is unknown',
  }),
  present: z
    .int()
    .meta({ description: 'Number of included changes, each a pair of a commit and a package that it changes' }),
  total: z.int(),
};

const WorkItemPlaces = z
  .object({
    key: z.string(),
    url: z.string().nullable(),
    commits: z.array(
      Commit.omit({ workItems: true }).extend({
        packages: z
          .array(z.string())
          .meta({ description: 'The packages for which the commit counts; empty: it only mentions the work item' }),
        isReleasable: z.boolean().meta({
          description:
            'The commit is on the default or a configured branch or in a candidate. Others, such as commits of a squashed branch, do not count',
        }),
      }),
    ),
    totalCommits: z.int(),
    isTruncated: z.boolean(),
    pullRequests: z.array(z.int()).meta({
      description: 'Commits that mention the work item, and those by which its changes were brought in',
    }),
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
              .meta({ description: 'Contains more of the work item than the previous candidate on the branch' }),
          }),
        ),
        environments: z.array(
          z.object({
            environmentId: z.string(),
            name: z.string(),
            category: z.string(),
            ...share,
            firstArrivedAt: z.string().nullable().meta({ description: 'When the first of the changes arrived' }),
            arrivedAt: z
              .string()
              .nullable()
              .meta({ description: 'When the last of the changes arrived; null while any is missing' }),
            releaseName: z
              .string()
              .nullable()
              .meta({ description: 'The release that completed the work item in this environment' }),
          }),
        ),
        missingFromEnvironments: z
          .array(z.string())
          .meta({ description: 'Active release environments in which changes are missing' }),
      }),
    ),
    missingDomains: z
      .array(z.string())
      .meta({ description: 'Domains in which changes are missing in an active release environment' }),
    packagesWithoutDomain: z.array(z.string()),
    repository: RepositoryFreshness,
  })
  .meta({ id: 'WorkItemPlaces' });

export const workItemPlacesRoutes = [
  defineRoute({
    operationId: 'locateWorkItem',
    method: 'get',
    path: '/api/releases/work-items/{key}',
    group: 'Releases',
    summary: 'Find out which candidates and environments contain a work item',
    description: [
      'Which changes count for a work item is decided as in changelogs: a commit that changes a package counts if its message, or that of a merge that brought it in, mentions the work item. A merge of the default branch into another one brings nothing in.',
      'A candidate or environment contains a change if the changelog from the beginning to the commit of its package version lists that commit for the work item. So a version that was built on a branch before the merge that mentions the work item does not contain it.',
      'A domain is affected if the changed packages are configured for it or contained in its candidates. A change that was cherry-picked onto another branch is another commit, and both count. What lacks one of them has it by the other, and is complete if no changelog from another candidate, environment or branch to it says that the work item is lost; commits of the same author, author date and subject are the same change.',
      `All commits count; the newest ${ITEM_COMMITS_MAX} are listed. Covers the newest ${ITEM_CANDIDATES_MAX} candidates of each domain. If no commit mentions the key, the lists are empty.`,
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
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
          releases: { deploymentLogs },
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const history = await commitGraphs(work, project.id);
        return workItemPlaces(work, history, await deploymentLogs(work, project.id), project, key);
      }),
  }),
];
