import type { History } from '../git/commit-graph-cache.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import { candidatesNamed } from '../release-candidates/candidate-series.queries.ts';
import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { type DeployedRelease, packagesAfter } from './change-summary-rules.ts';
import { changelogOf, resolveInOrder } from './changelog.ts';
import { packageChanges } from './package-change-rules.ts';
import { releaseSeries } from './releases.queries.ts';

export interface NotesQuery {
  releaseName: string;
  domain?: string | undefined;
  /** The release against which it is held; the one before it when absent. */
  fromReleaseName?: string | undefined;
}

type Named = Pick<DeployedRelease, 'domain' | 'releaseName' | 'packages' | 'deployments'>;

/** Releases of a name, deployed or not yet, one for each domain. */
async function releasesNamed(
  tx: Tx,
  projectId: string,
  series: readonly DeployedRelease[],
  name: Pick<NotesQuery, 'releaseName' | 'domain'>,
): Promise<Named[]> {
  const deployed = series.filter(({ releaseName }) => releaseName === name.releaseName);
  const candidates = await candidatesNamed(tx, projectId, name);
  const undeployed = candidates
    .filter(({ domain }) => !deployed.some((each) => each.domain === domain))
    .map(
      ({ domain, releaseName, value }): Named => ({
        domain,
        releaseName,
        packages: value.artifacts ?? {},
        deployments: [],
      }),
    );
  return [...deployed, ...undeployed].toSorted((a, b) => (a.domain < b.domain ? -1 : 1));
}

/** In each environment the first deployment, and whether none lasted. */
function arrivals(deployments: DeployedRelease['deployments']) {
  return [...Map.groupBy(deployments, ({ environment }) => environment)].map(([environment, own]) => ({
    environment,
    deployedAt: own[0]?.deployedAt ?? '',
    isRolledBack: own.every(({ isRolledBack }) => isRolledBack),
  }));
}

/**
 * What is new in a release, by domain: against what the release that was deployed before it, or for one that is not
 * deployed yet, the newest that is, left together with those before. Throws `not_found`.
 */
export async function releaseNotes(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  { releaseName, domain, fromReleaseName }: NotesQuery,
) {
  const series = await releaseSeries(tx, project.id, { domain });
  const releases = await releasesNamed(tx, project.id, series, { releaseName, domain });
  if (releases.length === 0) throw notFound(`The release ${releaseName}`);
  const bases =
    fromReleaseName === undefined
      ? undefined
      : await releasesNamed(tx, project.id, series, { releaseName: fromReleaseName, domain });
  if (bases?.length === 0) throw notFound(`The release ${fromReleaseName}`);
  const steps = releases.map((release) => {
    const ofDomain = series.filter((each) => each.domain === release.domain);
    const placeOf = (name: string) => ofDomain.findIndex((each) => each.releaseName === name);
    const place = placeOf(releaseName);
    const base = bases
      ? bases.find((each) => each.domain === release.domain)
      : place < 0
        ? ofDomain.at(-1)
        : ofDomain[place - 1];
    const basePlace = base ? placeOf(base.releaseName) : -1;
    const earlier = basePlace < 0 ? ofDomain : ofDomain.slice(0, basePlace);
    return { release, base, before: base ? packagesAfter([...earlier, base]) : {} };
  });
  const domains = [];
  for (const { release, base, before } of steps) {
    const { repository: _, ...changelog } = await changelogOf(
      tx,
      history,
      project,
      await resolveInOrder(tx, history, packageChanges(before, release.packages)),
    );
    domains.push({
      domain: release.domain,
      previousReleaseName: base?.releaseName ?? null,
      deployments: arrivals(release.deployments),
      ...changelog,
    });
  }
  return { repositoryIdentifier: project.identifier, releaseName, domains, repository: history.freshness };
}
