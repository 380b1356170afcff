import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { RunContext } from '../flows/flow-runs.queries.ts';
import { flowType } from '../flows/flow-types.ts';
import { contentKept } from '../flows/run-deployments.queries.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import { targetOfRollback } from '../releases/rollbacks/rollback-targets.ts';
import type { CarriedPackages } from './release-content-rules.ts';

/** What a run takes to its environment. */
export interface ReleaseOfRun {
  releaseName: string;
  commitSha: string;
  packages: CarriedPackages;
  /** Artifacts of the release that a rollback takes back; undefined: it is no rollback, or nothing of it was installed. */
  takenBack: Readonly<Record<string, string>> | undefined;
}

/** Answers why there is none in words: the candidate is gone, or has other content than the run began with. */
export async function releaseOfRun(
  reads: Reads,
  {
    id,
    taskType,
    projectId,
    environmentId,
    domain,
    releaseName,
  }: Pick<RunContext, 'id' | 'taskType' | 'projectId' | 'environmentId' | 'domain' | 'releaseName'>,
): Promise<ReleaseOfRun | string> {
  if (projectId === null || environmentId === null || domain === null || releaseName === null)
    return 'The run names no release of an environment';
  const candidate = await findCandidate(reads, projectId, { domain, releaseName });
  if (!candidate) return `The domain ${domain} has no release candidate ${releaseName}`;
  const kept = await contentKept(reads, id);
  if (kept && kept.contentDigest !== candidate.contentDigest)
    return `The release candidate ${releaseName} has other content now than when the run began`;
  const from = !flowType(taskType)?.isRollback
    ? null
    : kept
      ? (kept.rolledBackFrom ?? null)
      : (await targetOfRollback(reads, { environmentId, domain }, releaseName)).rolledBackFrom;
  const former = from === null ? undefined : await findCandidate(reads, projectId, { domain, releaseName: from });
  const { artifacts = {}, artifactTypes: types = {}, packageDependencies: dependencies = {} } = candidate.value;
  return {
    releaseName,
    commitSha: candidate.commitSha,
    packages: { artifacts, types, dependencies },
    takenBack: former && (former.value.artifacts ?? {}),
  };
}

/** Where the notes of a run's release are read, for its environment. */
export function notesUrlOf({
  releaseName,
  repositoryIdentifier,
  domain,
  environmentName,
}: Pick<RunContext, 'releaseName' | 'repositoryIdentifier' | 'domain' | 'environmentName'>): string {
  const query = new URLSearchParams({
    repositoryIdentifier: repositoryIdentifier ?? '',
    domain: domain ?? '',
    environmentName: environmentName ?? '',
  });
  return `/api/releases/${encodeURIComponent(releaseName ?? '')}/notes?${query}`;
}
