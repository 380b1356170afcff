import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { deploymentFacts } from '../deployments/deployment-facts.ts';
import { isSuccess } from '../release-candidates/finalization-rules.ts';
import { candidatesByIds, type CandidateName } from '../release-candidates/release-candidates.queries.ts';
import { activeReleases } from './active-release-rules.ts';
import { installationsNow, type PlaceFilter } from './measures/environment-records.queries.ts';

type Installations = Awaited<ReturnType<typeof installationsNow>>['installations'];

/** What runs of one domain in an active environment. */
export interface RunningPlace {
  environmentId: string;
  domain: string;
  /** The releases that run there, as `activeReleases` says. */
  releaseNames: ReadonlySet<string>;
  /** By which they came, newest first. */
  installations: Installations;
}

/** What runs at this moment in active environments of a project; places in which nothing does are absent. */
export async function runningPlaces(
  reads: Reads,
  projectId: string,
  filter: PlaceFilter = {},
): Promise<RunningPlace[]> {
  const { installations } = await installationsNow(reads, projectId, filter);
  return placesByInstallations(reads, installations);
}

/** What runs, by what was installed. */
export async function placesByInstallations(reads: Reads, installations: Installations): Promise<RunningPlace[]> {
  const partly = installations.filter(({ status, installsAll }) => isSuccess(status) && !installsAll);
  const candidates = await candidatesByIds(reads, [...new Set(partly.flatMap(({ candidateId }) => candidateId ?? []))]);
  const facts = await deploymentFacts(reads, candidates, [
    ...new Set(partly.map(({ environmentId }) => environmentId)),
  ]);
  const known = new Set(candidates.map(({ id }) => id));
  const isDeployed = (candidateId: string, environmentId: string) =>
    !known.has(candidateId) || facts(candidateId, environmentId).isDeployed;
  const places = Map.groupBy(installations, (each) => `${each.environmentId}\n${each.domain}`);
  return [...places.values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const { environmentId, domain } = first;
    return { environmentId, domain, releaseNames: activeReleases(own, isDeployed), installations: own };
  });
}

/** The releases that run at this moment in at least one active environment of a project. */
export async function activeReleaseNames(
  reads: Reads,
  projectId: string,
  domain: string | undefined,
): Promise<CandidateName[]> {
  const places = await runningPlaces(reads, projectId, { domain });
  const names = places.flatMap(({ domain: own, releaseNames }) =>
    [...releaseNames].map((releaseName) => ({ domain: own, releaseName })),
  );
  return [...new Map(names.map((each) => [`${each.domain}\n${each.releaseName}`, each])).values()];
}
