import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { domainPackages } from './domain-packages-rules.ts';

export interface ImpactedDomain {
  domainName: string;
  impactedPackages: string[];
}

/** How many first parents back a successful build is searched. */
const STEPS_MAX = 5_000;

/**
 * The commit against which a build's changes are computed: the newest of its first parents that was built with success,
 * else the default branch for a commit outside of it, else the first parent. Null: there is none.
 */
export function baseOf(
  { graph }: History,
  commit: number,
  { defaultTip, built }: { defaultTip: number | undefined; built: ReadonlySet<number> },
): number | null {
  let at = graph.parentsOf(commit)[0];
  for (let step = 0; at !== undefined && step < STEPS_MAX; step++) {
    if (built.has(at)) return at;
    at = graph.parentsOf(at)[0];
  }
  if (defaultTip !== undefined && !graph.isAncestor(commit, defaultTip)) return defaultTip;
  return graph.parentsOf(commit)[0] ?? null;
}

interface ImpactRange {
  commit: number;
  base: number | null;
  forcedDomains: readonly string[];
  forcedPackages: readonly string[];
}

/** Domains and packages that the commits since the base change, and those that are forced. */
export function impactOf(
  { graph, packages }: History,
  { configuration: { domains = [] } }: Pick<ProjectFacts, 'configuration'>,
  { commit, base, forcedDomains, forcedPackages }: ImpactRange,
): ImpactedDomain[] {
  const isTouched = ({ packageNo }: { packageNo: number }) => graph.log([packageNo], base, commit).length > 0;
  const touched = new Set(forcedPackages);
  for (const [name, known] of packages) if (isTouched(known)) touched.add(name);
  return domainPackages(domains, packages.keys()).flatMap(({ name, packages: own }) => {
    const isForced = forcedDomains.includes(name);
    const impactedPackages = own.filter((each) => isForced || touched.has(each));
    return isForced || impactedPackages.length > 0 ? [{ domainName: name, impactedPackages }] : [];
  });
}
