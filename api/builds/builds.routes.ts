import { z } from 'zod';
import { skipReason } from '../../domain/builds/build-state-rules.ts';
import { type BuildRow, listBuilds } from '../../domain/builds/build-status.queries.ts';
import { BRANCHES_MAX, branchTip, listBranches } from '../../domain/git/refs.queries.ts';
import { domainPackages, type DomainPackages, domainsOf } from '../../domain/builds/domain-packages-rules.ts';
import { commitShas, commitViews } from '../../domain/git/commits.queries.ts';
import type { History } from '../../domain/git/commit-graph-cache.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { isoOf } from '../../domain/shared/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { pageReply } from '../http/replies.ts';
import { BranchOut, BuildStatuses, CommitOut, CommitsQuery, ofRepository, StatusQuery } from './builds.schemas.ts';

const GROUP = 'Builds';

const numbersOf = ({ packages }: History, names: readonly string[]): number[] =>
  names.flatMap((name) => packages.get(name)?.packageNo ?? []);

function view(
  { contexts, state, branch, seq, ...row }: BuildRow,
  history: History,
  domains: readonly DomainPackages[],
  names: ReadonlyMap<number, string>,
) {
  const changed = seq === null ? [] : history.graph.packagesChangedBy(seq);
  const packages = new Set(changed.flatMap((packageNo) => names.get(packageNo) ?? []));
  return {
    ...row,
    commitTimestamp: Date.parse(isoOf(row.commitDate)),
    domains: Object.fromEntries(
      domainsOf(domains, packages).map((domain) => [domain.name, { packages: domain.packages }]),
    ),
    skipReason: skipReason(row.commitMessage),
    workflowStatus: { state, branch, builds: contexts },
  };
}

export const buildsRoutes = [
  defineRoute({
    operationId: 'listBuilds',
    method: 'get',
    path: '/api/builds/status',
    group: GROUP,
    summary: 'Builds of the commits that hooks of the git host told of, newest commit first',
    description: 'Pushes and states of builds come by `POST /api/hooks/{host}`.',
    roles: ANY_ROLE,
    query: StatusQuery,
    status: 200,
    response: BuildStatuses,
    async handle({ query: { repositoryIdentifier, domain, limit, offset } }, { reads, adapters, requestUrl }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      const history = await adapters.git.commitGraphs(reads, project.id);
      const domains = domainPackages(project.configuration.domains ?? [], history.packages.keys());
      const ofDomain = domain === undefined ? undefined : (domains.find(({ name }) => name === domain)?.packages ?? []);
      const { builds, total } = await listBuilds(reads, project.id, ofDomain && numbersOf(history, ofDomain), {
        limit,
        offset,
      });
      const names = new Map([...history.packages].map(([name, { packageNo }]) => [packageNo, name]));
      const body = {
        builds: builds.map((build) => view(build, history, domains, names)),
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
    summary: `Branches of the repository, those with the newest commits first; at most ${BRANCHES_MAX}`,
    roles: ANY_ROLE,
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
    summary: 'The newest commits of a branch, in the order of git log',
    description:
      'As far as the repository is fetched: see `GET /api/projects/{identifier}/mirror`. An unknown branch is 404.',
    roles: ANY_ROLE,
    query: CommitsQuery,
    status: 200,
    response: z.array(CommitOut),
    async handle({ query: { repositoryIdentifier, branch, limit } }, { reads, adapters }) {
      const project = await projectInRequest(reads, repositoryIdentifier);
      // In this order, the history holds the tip.
      const tip = await branchTip(reads, project.id, branch);
      if (tip === undefined) throw notFound(`The branch ${branch}`);
      const { graph } = await adapters.git.commitGraphs(reads, project.id);
      const commits = graph.newest(tip, limit);
      const views = await commitViews(reads, project.id, commits);
      const parents = commits.flatMap((commit) => graph.parentsOf(commit)[0] ?? []);
      const shas = await commitShas(reads, project.id, parents);
      return commits.flatMap((commit) => {
        const shown = views.get(commit);
        const parent = graph.parentsOf(commit)[0];
        return shown ? [{ ...shown, baseRef: parent === undefined ? null : (shas.get(parent) ?? null) }] : [];
      });
    },
  }),
];
