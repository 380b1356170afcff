import { MANIFEST } from '../../../domain/code/git/package-rules.ts';
import { fullCommitId } from '../../../domain/code/git/commits.queries.ts';
import { gitCredential } from '../../../domain/code/git/mirror/git-credentials.ts';
import type { MirrorOf, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { aliasesOfManifest, type VersionAliases } from '../../../domain/delivery/org-packages/package-name-rules.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Deps } from '../../deps.ts';

const MANIFEST_BYTES_MAX = 1024 * 1024;

/** @property reason for people. */
export type FoundAliases = { isOk: true; aliases: VersionAliases; commitId: string } | { isOk: false; reason: string };

const not = (reason: string): FoundAliases => ({ isOk: false, reason });

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
  const { projectId, platform, remoteUrl, repositoryIdentifier, payload, defaultBranch } = run;
  if (projectId === null || platform === null || repositoryIdentifier === null)
    return not(
      'The run names no repository, whose sfdx-project.json has the aliases: name versions by their ids (04t…)',
    );
  if (remoteUrl === null) return not(`The project ${repositoryIdentifier} has no remoteUrl`);
  const of = { projectId, platform, remoteUrl, repositoryIdentifier };
  const actor = systemActor(tenant, 'flow');
  const credential = await deps.actingAs(actor)((tx) => gitCredential(tx, deps.encryption, of));
  const remote = { url: remoteUrl, credential };
  const mirror = { tenantId: tenant.tenantId, projectId };
  const branch = payload.branch ?? defaultBranch ?? 'main';
  const wanted =
    payload.commitId === undefined ? undefined : await fullCommitId(deps.reads.as(actor), projectId, payload.commitId);
  const commit = await commitIn(deps, { mirror, remote, wanted, branch }, signal);
  if ('reason' in commit) return not(commit.reason);
  const { commitId } = commit;
  const text = await deps.git.mirrors.file(mirror, remote, commitId, MANIFEST, MANIFEST_BYTES_MAX);
  const aliases = text === undefined ? undefined : aliasesOfManifest(text);
  return aliases
    ? { isOk: true, aliases, commitId }
    : not(`${repositoryIdentifier} has no readable ${MANIFEST} at ${commitId}`);
}

/** The commit, as the mirror has it; a branch is fetched for its head, and a commit where it is missing. */
async function commitIn(
  { git: { mirrors } }: Pick<Deps, 'git'>,
  { mirror, remote, wanted, branch }: { mirror: MirrorOf; remote: Remote; wanted: string | undefined; branch: string },
  signal: AbortSignal,
): Promise<{ commitId: string } | { reason: string }> {
  const isThere = async () =>
    wanted !== undefined && (await mirrors.present(mirror, [wanted]).catch(() => new Set<string>())).has(wanted);
  if (wanted !== undefined && (await isThere())) return { commitId: wanted };
  const fetched = await mirrors.fetch(mirror, remote, signal);
  if (fetched.outcome === 'failed') return { reason: `The repository could not be fetched: ${fetched.reason}` };
  if (wanted !== undefined)
    return (await isThere()) ? { commitId: wanted } : { reason: `The repository has no commit ${wanted}` };
  const head = (await mirrors.refs(mirror)).find(({ kind, name }) => kind === 'branch' && name === branch)?.sha;
  return head === undefined ? { reason: `The repository has no branch ${branch}` } : { commitId: head };
}
