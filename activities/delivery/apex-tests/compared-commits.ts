import { fullCommitId } from '../../../domain/code/git/commits.queries.ts';
import { sourceOfOrg } from '../../../domain/delivery/org-deployments/org-sources.queries.ts';
import { BUILD, type NamedSource, namedSource } from '../../../domain/delivery/org-deployments/source-of-run.ts';
import { stepsOfRun } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { findCandidate } from '../../../domain/delivery/release-candidates/release-candidates.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { remoteOfRun } from '../source/remote-of-run.ts';
import { baseOf } from '../org-deployments/plan-deployment.ts';
import type { OrgWork } from '../org-steps/org-work.ts';
import type { ComparedCommits } from './read-apex.ts';

/** The commits that a run compares, or why that cannot be, for people. */
export type Sides = { isOk: true; commitSha: string; baseSha: string } | { isOk: false; reason: string };

const not = (reason: string): Sides => ({ isOk: false, reason });
const short = (sha: string): string => sha.slice(0, 8);

/** The commit of the project that the org runs as a whole, as far as that is certain. */
export const ranByOrg = async (work: OrgWork): Promise<string | null> =>
  work.run.projectId === null ? null : (await baseOf(work, undefined)).baseSha;

/**
 * What a run compares: the commit that it names, else the one that the org runs, with `since`, else with what the org ran
 * before.
 */
export async function sidesOf(work: OrgWork, ranSha: string | null, signal: AbortSignal): Promise<Sides> {
  const { deps, tenant, run } = work;
  const reads = deps.reads.as(systemActor(tenant, 'flow'));
  const place = await remoteOfRun(deps, tenant, run);
  if (!place.isOk) return place;
  const { mirror, remote } = place.value;
  const { mirrors } = deps.git;
  const fetched = await mirrors.fetch(mirror, remote, signal);
  const refs = await mirrors.refs(mirror).catch(() => []);
  const missing = (what: string) =>
    not(
      fetched.outcome === 'failed'
        ? `The repository could not be fetched: ${fetched.reason}`
        : `The repository has no ${what}`,
    );
  const present = async (sha: string | undefined): Promise<string | undefined> => {
    if (sha === undefined || !/^[0-9a-f]{7,64}$/i.test(sha)) return undefined;
    const full = await fullCommitId(reads, mirror.projectId, sha);
    return (await mirrors.present(mirror, [full]).catch(() => new Set<string>())).has(full) ? full : undefined;
  };
  // What a name means now is only known from a repository that was just fetched.
  const refOf = (name: string, kind?: 'branch') =>
    fetched.outcome === 'failed'
      ? undefined
      : refs.find((ref) => ref.name === name && (kind === undefined || ref.kind === kind))?.sha;

  const named = await namedOrNull(reads, work);
  const wanted =
    named === null ? (ranSha ?? undefined) : 'branch' in named ? refOf(named.branch, 'branch') : named.commitSha;
  if (named === null && ranSha === null)
    return not('Nothing names the commit that the org runs: give commitId, or releaseName with domain');
  const head = await present(wanted);
  if (head === undefined)
    return missing(named && 'branch' in named ? `branch ${named.branch}` : `commit ${wanted ?? ''}`);
  const since = typeof run.payload.since === 'string' ? run.payload.since : undefined;
  if (since !== undefined) {
    const base = refOf(since) ?? (await present(since)) ?? (await present(await shaOfRelease(reads, work, since)));
    return base === undefined
      ? missing(`branch, tag, commit or release ${since}`)
      : { isOk: true, commitSha: head, baseSha: base };
  }
  const before = await ranBefore(reads, work, { head, ranSha });
  if (before === null) return not(`It is not known what the org ran before ${short(head)}: name it by since`);
  const base = await present(before);
  return base === undefined
    ? missing(`commit ${before}, which the org ran`)
    : { isOk: true, commitSha: head, baseSha: base };
}

async function namedOrNull(reads: Reads, { run }: OrgWork): Promise<NamedSource | null> {
  const { commitId, branch } = run.payload;
  return commitId === undefined && branch === undefined && run.releaseName === null ? null : namedSource(reads, run);
}

async function shaOfRelease(reads: Reads, { run }: OrgWork, releaseName: string): Promise<string | undefined> {
  if (run.projectId === null || run.domain === null) return undefined;
  return (await findCandidate(reads, run.projectId, { domain: run.domain, releaseName }))?.commitSha;
}

/** What the org ran before the head: what it runs, or what that was deployed upon. */
async function ranBefore(
  reads: Reads,
  { run, org }: OrgWork,
  { head, ranSha }: { head: string; ranSha: string | null },
): Promise<string | null> {
  if (ranSha !== head) return ranSha;
  const deployed = await sourceOfOrg(reads, run.projectId ?? '', org.orgId);
  const steps = deployed ? await stepsOfRun(reads, deployed.runId) : [];
  const { baseSha } = (steps.find(({ name }) => name === BUILD)?.intent ?? {}) as { baseSha?: string | null };
  return baseSha ?? null;
}

/** The two commits, in a mirror that has both. Throws where they cannot be fetched now. */
export async function comparedCommits(
  work: OrgWork,
  { commitSha, baseSha }: { commitSha: string; baseSha: string },
  signal: AbortSignal,
): Promise<ComparedCommits> {
  const place = await remoteOfRun(work.deps, work.tenant, work.run);
  if (!place.isOk) throw new DomainError('flow_unavailable', place.reason);
  const { mirror, remote } = place.value;
  const { mirrors } = work.deps.git;
  const lacks = async () => {
    const present = await mirrors.present(mirror, [commitSha, baseSha]).catch(() => new Set<string>());
    return [commitSha, baseSha].find((sha) => !present.has(sha));
  };
  if ((await lacks()) !== undefined) await mirrors.fetch(mirror, remote, signal);
  const missing = await lacks();
  if (missing !== undefined) throw new DomainError('flow_unavailable', `The repository has no commit ${missing}`);
  return { mirrors, mirror, remote, commitSha, baseSha, signal };
}
