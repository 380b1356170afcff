import { createHash } from 'node:crypto';
import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import { commitShas } from '../../code/git/commits.queries.ts';
import { branchTip } from '../../code/git/mirror/refs.queries.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ReportKey } from './ai-report-rules.ts';
import { analysisGroups } from './analysis-facts.ts';
import { changeGroups } from './change-facts.ts';
import {
  counted,
  dayOf,
  fact,
  type Fact,
  type FactGroup,
  listedFacts,
  type ReportFacts,
  someOf,
} from './fact-rules.ts';
import { failedDeployments, type ReleasedPackage, releasedPackages } from './released.queries.ts';
import { type ReportSubject, subjectOf } from './report-subject.ts';

/** Facts with the commit that they are about. */
export interface GatheredFacts extends ReportFacts {
  /** Newest commit of the branch; null: the branch is not known. */
  commitSha: string | null;
  /** SHA-256 of the facts: the same digest, the same facts. */
  digest: string;
}

/**
 * Gathers what rows say of a repository, a domain or a package: sizes, releases, the latest analysis of its code,
 * deployments that failed, changes and work items since the last release. The same rows give the same facts, whenever
 * they are gathered.
 */
export async function gatherFacts(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  key: ReportKey,
): Promise<GatheredFacts> {
  const domain = key.scope === 'domain' ? key.scopeName : undefined;
  const released = await releasedPackages(tx, project.id, domain, [...history.packages.keys()]);
  const subject = subjectOf(project, history, key, released);
  const tip = history.graph.known(await branchTip(tx, project.id, key.branch));
  const commitSha = tip === undefined ? null : ((await commitShas(tx, project.id, [tip])).get(tip) ?? null);
  const changes = tip === undefined ? undefined : await changeGroups(tx, history, subject, tip);
  const listed = listedFacts([
    { facts: sizeFacts(history, subject, key.branch, commitSha), share: 30 },
    { facts: releaseFacts(subject), share: 20 },
    ...(await analysisGroups(tx, history, subject, key.branch)),
    await failureGroup(tx, project.id, subject),
    ...(changes ? [changes.packages, changes.workItems, changes.commits] : []),
  ]);
  const digest = createHash('sha256')
    .update(JSON.stringify({ commitSha, ...listed }))
    .digest('hex');
  return { ...listed, commitSha, digest };
}

function sizeFacts(history: History, { packages }: ReportSubject, branch: string, commitSha: string | null): Fact[] {
  const known = packages.flatMap((name) => {
    const found = history.packages.get(name);
    return found ? { name, ...found } : [];
  });
  const depending = known.filter(({ dependencies }) => dependencies.length > 0);
  return [
    fact(
      'git',
      `The repository has ${counted(history.graph.size, 'commit')} and ${counted(history.packages.size, 'package')}`,
    ),
    commitSha === null
      ? fact('git', `The branch ${branch} is not known in the repository`)
      : fact('git', `The newest commit of branch ${branch} is ${commitSha.slice(0, 10)}`),
    fact(
      'git',
      `${counted(known.length, 'package')} of the repository ${known.length === 1 ? 'is' : 'are'} covered here`,
    ),
    ...depending
      .toSorted((a, b) => b.dependencies.length - a.dependencies.length || (a.name < b.name ? -1 : 1))
      .map(({ name, dependencies }) => fact('git', `Package ${name} depends on ${someOf(dependencies)}`)),
  ];
}

/** Releases that packages hold now, newest first. */
function releaseFacts({ released }: ReportSubject): Fact[] {
  const releases = Map.groupBy(
    released.values(),
    ({ domain, releaseName, environment }) => `${domain}\n${releaseName}\n${environment ?? ''}`,
  );
  if (releases.size === 0) return [fact('releases', 'Nothing of this has been released yet')];
  return [...releases.values()]
    .toSorted(([a], [b]) => (timeOf(a) < timeOf(b) ? 1 : -1))
    .map((packages) => {
      const [{ domain, releaseName, environment, at } = NEVER] = packages;
      const names = someOf(packages.map(({ name, version }) => `${name} ${version}`));
      const how = environment === null ? `finalized on ${dayOf(at)}` : `deployed to ${environment} on ${dayOf(at)}`;
      return fact('releases', `Release ${releaseName} of domain ${domain}, ${how}, is the last one of ${names}`);
    });
}

const NEVER: ReleasedPackage = { name: '', version: '', domain: '', releaseName: '', at: '', environment: null };
const timeOf = (released: ReleasedPackage | undefined): number => Date.parse(released?.at ?? '');

/** Deployments that failed since the last release of their domain. */
async function failureGroup(tx: Tx, projectId: string, { released, domains }: ReportSubject): Promise<FactGroup> {
  const since = new Map<string, string>();
  for (const each of released.values()) {
    const known = since.get(each.domain);
    if (known === undefined || timeOf(each) > Date.parse(known)) since.set(each.domain, each.at);
  }
  const failed = await failedDeployments(tx, projectId, domains, since);
  return {
    facts: failed.map(({ domain, releaseName, environment, deployedAt }) =>
      fact(
        'deployments',
        `The deployment of release ${releaseName} of domain ${domain} to ${environment} failed on ${dayOf(deployedAt)}`,
      ),
    ),
    total: failed[0]?.total ?? 0,
    share: 40,
  };
}
