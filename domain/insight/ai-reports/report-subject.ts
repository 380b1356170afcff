import { domainPackages } from '../../ci/builds/domain-packages-rules.ts';
import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import type { ReportKey } from './ai-report-rules.ts';
import type { ReleasedPackage } from './released.queries.ts';

/** What a report is about, in packages and domains. */
export interface ReportSubject {
  /** Names, sorted. */
  packages: readonly string[];
  /** Domains whose deployments count; undefined: all of the project. */
  domains: readonly string[] | undefined;
  /** By package. */
  released: ReadonlyMap<string, ReleasedPackage>;
}

/** Which packages and domains a report covers: those that the project lists, and those that were released. */
export function subjectOf(
  { configuration }: Pick<ProjectFacts, 'configuration'>,
  { packages }: Pick<History, 'packages'>,
  { scope, scopeName }: Pick<ReportKey, 'scope' | 'scopeName'>,
  all: readonly ReleasedPackage[],
): ReportSubject {
  const domains = domainPackages(configuration.domains ?? [], packages.keys());
  const subject = (names: Iterable<string>, ofDomains: readonly string[] | undefined): ReportSubject => {
    const sorted = [...new Set(names)].toSorted();
    const included = new Set(sorted);
    const released = all.filter(({ name }) => included.has(name));
    return { packages: sorted, domains: ofDomains, released: new Map(released.map((each) => [each.name, each])) };
  };
  if (scope === 'repository') return subject([...packages.keys(), ...all.map(({ name }) => name)], undefined);
  if (scope === 'domain') {
    const listed = domains.find(({ name }) => name === scopeName)?.packages ?? [];
    const releasedThere = all.filter(({ domain }) => domain === scopeName).map(({ name }) => name);
    return subject([...listed, ...releasedThere], [scopeName]);
  }
  const own = [
    ...domains.filter((domain) => domain.packages.includes(scopeName)).map(({ name }) => name),
    ...all.filter(({ name }) => name === scopeName).map(({ domain }) => domain),
  ];
  return subject([scopeName], [...new Set(own)].toSorted());
}
