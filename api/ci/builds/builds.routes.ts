import { z } from 'zod';
import { listBuilds, newestCommits } from '../../../domain/ci/builds/build-list.ts';
import { BRANCHES_MAX, listBranches } from '../../../domain/code/git/mirror/refs.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { pageReply } from '../../http/replies.ts';
import { BranchOut, BuildStatuses, CommitOut, CommitsQuery, ofRepository, StatusQuery } from './builds.schemas.ts';

const GROUP = 'Builds';

export const buildsRoutes = [
  defineRoute({
    operationId: 'listBuilds',
    method: 'get',
    path: '/api/builds/status',
    group: GROUP,
    summary: 'List the builds of commits, newest commit first',
    description: 'Pushes and build statuses are received by `POST /api/hooks/{host}`.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: StatusQuery,
    status: 200,
    response: BuildStatuses,
    async handle({ query: { domain, ...query } }, { reads, adapters, requestUrl }) {
      const { limit, offset } = query;
      const { builds, total } = await listBuilds(reads, adapters.git.commitGraphs, { ...query, domain });
      const body = {
        builds: builds.map(({ contexts, state, branch, domains, ...build }) => ({
          ...build,
          commitTimestamp: Date.parse(isoOf(build.commitDate)),
          domains: Object.fromEntries(domains.map(({ name, packages }) => [name, { packages }])),
          workflowStatus: { state, branch, builds: contexts },
        })),
        total,
        hasMore: offset + builds.length < total,
      };
      return pageReply(requestUrl, { limit, offset, total }, body);
    },
  }),
  defineRoute({
    operationId: 'listBuildBranches',
    method: 'get',
    path: '/api/builds/branches',
    group: GROUP,
    summary: `List the branches of a repository, newest commit first; at most ${BRANCHES_MAX}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ofRepository,
    status: 200,
    response: z.array(BranchOut),
    async handle({ query: { repositoryIdentifier } }, { reads }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const branches = await listBranches(reads, project.id);
      return branches.map((branch) => ({ ...branch, isDefault: branch.name === project.defaultBranch }));
    },
  }),
  defineRoute({
    operationId: 'listBuildCommits',
    method: 'get',
    path: '/api/builds/commits',
    group: GROUP,
    summary: 'List the newest commits of a branch, in the order of git log',
    description:
      'Shows what has been fetched, see `GET /api/projects/{identifier}/mirror`. An unknown branch gets 404.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: CommitsQuery,
    status: 200,
    response: z.array(CommitOut),
    handle: ({ query }, { reads, adapters }) => newestCommits(reads, adapters.git.commitGraphs, query),
  }),
];
