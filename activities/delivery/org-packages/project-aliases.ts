import { MANIFEST } from '../../../domain/code/git/package-rules.ts';
import { fullCommitId } from '../../../domain/code/git/commits.queries.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { aliasesOfManifest, type VersionAliases } from '../../../domain/delivery/org-packages/package-name-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { fetchCommit } from '../../code/git/fetched-commits.ts';
import { remoteOfRun } from '../source/remote-of-run.ts';
import type { Deps } from '../../deps.ts';

const MANIFEST_BYTES_MAX = 1024 * 1024;

/** @property reason for people. */
export type FoundAliases = { isOk: true; aliases: VersionAliases; commitId: string } | NotFound;

interface NotFound {
  isOk: false;
  reason: string;
}

const not = (reason: string): NotFound => ({ isOk: false, reason });

/**
 * The aliases in the `sfdx-project.json` of a run's project: at its commit, else at the head of its branch, else at that of the default
 * branch. What the mirror lacks is fetched.
 */
export async function projectAliases(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  signal: AbortSignal,
): Promise<FoundAliases> {
  if (run.projectId === null)
    return not(
      'The run names no repository, whose sfdx-project.json has the aliases: name versions by their ids (04t…)',
    );
  const found = await projectManifest(deps, tenant, run, signal);
  if (!found.isOk) return found;
  const { text, commitId } = found;
  const aliases = text === null ? undefined : aliasesOfManifest(text);
  return aliases
    ? { isOk: true, aliases, commitId }
    : not(`${run.repositoryIdentifier} has no readable ${MANIFEST} at ${commitId}`);
}

/** The text of the `sfdx-project.json` of a run's project, found as `projectAliases` does; null: the commit has none. */
export async function projectManifest(
  deps: Deps,
  tenant: TenantKey,
  run: Pick<RunContext, 'projectId' | 'platform' | 'remoteUrl' | 'repositoryIdentifier' | 'payload' | 'defaultBranch'>,
  signal: AbortSignal,
): Promise<{ isOk: true; text: string | null; commitId: string } | NotFound> {
  const { repositoryIdentifier, payload, defaultBranch } = run;
  const place = await remoteOfRun(deps, tenant, run);
  if (!place.isOk) return place;
  const { projectId, mirror, remote } = place.value;
  const branch = payload.branch ?? defaultBranch ?? 'main';
  const wanted =
    payload.commitId === undefined
      ? undefined
      : await fullCommitId(deps.reads.as(systemActor(tenant, 'flow')), projectId, payload.commitId);
  const { mirrors } = deps.git;
  const isThere = wanted !== undefined && (await mirrors.present(mirror, [wanted]).catch(() => new Set())).has(wanted);
  const commit = isThere
    ? ({ isOk: true, value: wanted } as const)
    : await fetchCommit(mirrors, { mirror, remote, wanted, branch }, signal);
  if (!commit.isOk) return commit;
  const commitId = commit.value;
  const text = await mirrors.file(mirror, remote, commitId, MANIFEST, MANIFEST_BYTES_MAX);
  if (text !== undefined) return { isOk: true, text, commitId };
  let isListed = false;
  await mirrors.files(mirror, commitId, ({ path }) => {
    isListed ||= path === MANIFEST;
  });
  return isListed
    ? not(`${repositoryIdentifier} has no readable ${MANIFEST} at ${commitId}`)
    : { isOk: true, text: null, commitId };
}
