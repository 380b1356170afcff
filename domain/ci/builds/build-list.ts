import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { commitShas, commitViews } from '../../code/git/commits.queries.ts';
import type { CommitGraphCache, History } from '../../code/git/graph/commit-graph-cache.ts';
import { branchTip } from '../../code/git/mirror/refs.queries.ts';
import { projectInRequest } from '../../projects/projects/projects.queries.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { skipReason } from './build-state-rules.ts';
import { buildsPage, countBuilds } from './builds.queries.ts';
import { domainPackages, type DomainPackages, domainsOf } from './domain-packages-rules.ts';

export interface BuildListQuestion {
  repositoryIdentifier: string;
  /** Only builds of commits that change packages of this domain. */
  domain: string | undefined;
  limit: number;
  offset: number;
}

/** One page of the builds of a project with what their commits change, newest commit first. */
export async function listBuilds(
  reads: Reads,
  commitGraphs: CommitGraphCache,
  { repositoryIdentifier, domain, limit, offset }: BuildListQuestion,
) {
  const project = await projectInRequest(reads, repositoryIdentifier);
  const history = await commitGraphs(reads, project.id);
  const domains = domainPackages(project.configuration.domains ?? [], history.packages.keys());
  const packages = domain === undefined ? undefined : packageNumbers(history, domains, domain);
  const [rows, total] = await Promise.all([
    buildsPage(reads, project.id, packages, { limit, offset }),
    countBuilds(reads, project.id, packages),
  ]);
  const names = new Map([...history.packages].map(([name, { packageNo }]) => [packageNo, name]));
  const builds = rows.map(({ seq, ...build }) => {
    const changed = seq === null ? [] : history.graph.packagesChangedBy(seq);
    const changedNames = new Set(changed.flatMap((packageNo) => names.get(packageNo) ?? []));
    return { ...build, domains: domainsOf(domains, changedNames), skipReason: skipReason(build.commitMessage) };
  });
  return { builds, total };
}

const packageNumbers = ({ packages }: History, domains: readonly DomainPackages[], domain: string): number[] =>
  (domains.find(({ name }) => name === domain)?.packages ?? []).flatMap((name) => packages.get(name)?.packageNo ?? []);

/** The newest commits of a branch in the order of git log, each with its first parent. Throws `not_found`. */
export async function newestCommits(
  reads: Reads,
  commitGraphs: CommitGraphCache,
  { repositoryIdentifier, branch, limit }: { repositoryIdentifier: string; branch: string; limit: number },
) {
  const project = await projectInRequest(reads, repositoryIdentifier);
  // The tip first: then the history, which is read after it, holds it.
  const tip = await branchTip(reads, project.id, branch);
  if (tip === undefined) throw notFound(`The branch ${branch}`);
  const { graph } = await commitGraphs(reads, project.id);
  const commits = graph.newest(tip, limit).map((commit) => ({ commit, parent: graph.parentsOf(commit)[0] }));
  const views = await commitViews(
    reads,
    project.id,
    commits.map(({ commit }) => commit),
  );
  const shas = await commitShas(
    reads,
    project.id,
    commits.flatMap(({ parent }) => parent ?? []),
  );
  return commits.flatMap(({ commit, parent }) => {
    const view = views.get(commit);
    return view ? [{ ...view, baseRef: parent === undefined ? null : (shas.get(parent) ?? null) }] : [];
  });
}
