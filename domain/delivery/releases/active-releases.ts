import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { deploymentFacts } from '../deployments/deployment-facts.ts';
import { isSuccess } from '../release-candidates/finalization-rules.ts';
import { candidatesByIds, type CandidateName } from '../release-candidates/release-candidates.queries.ts';
import { activeReleases } from './active-release-rules.ts';
import { installationsNow } from './measures/environment-records.queries.ts';

/** The releases that run at this moment in at least one active environment of a project. */
export async function activeReleaseNames(
  reads: Reads,
  projectId: string,
  domain: string | undefined,
): Promise<CandidateName[]> {
  const installations = await installationsNow(reads, projectId, domain);
  const partly = installations.filter(({ status, installsAll }) => isSuccess(status) && !installsAll);
  const candidates = await candidatesByIds(reads, [...new Set(partly.flatMap(({ candidateId }) => candidateId ?? []))]);
  const facts = await deploymentFacts(reads, candidates, [
    ...new Set(partly.map(({ environmentId }) => environmentId)),
  ]);
  const known = new Set(candidates.map(({ id }) => id));
  const isDeployed = (candidateId: string, environmentId: string) =>
    !known.has(candidateId) || facts(candidateId, environmentId).isDeployed;
  const places = Map.groupBy(installations, (each) => `${each.environmentId}\n${each.domain}`);
  const names = [...places.values()].flatMap((own) =>
    [...activeReleases(own, isDeployed)].map((releaseName) => ({ domain: own[0]?.domain ?? '', releaseName })),
  );
  return [...new Map(names.map((each) => [`${each.domain}\n${each.releaseName}`, each])).values()];
}
