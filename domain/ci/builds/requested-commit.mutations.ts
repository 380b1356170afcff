import { commitNumbers, commitShas } from '../../code/git/commits.queries.ts';
import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import { type MirrorToFetch, requestFetchSoon } from '../../code/git/mirror/commit-fetches.mutations.ts';
import { branchTip } from '../../code/git/mirror/refs.queries.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { type DomainError, invalidField } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';

/** A commit that is not known yet. */
export interface MissingCommit {
  isKnown: false;
  /** To be thrown after the transaction is committed, which requests a fetch. */
  refusal: DomainError;
  toFetch: MirrorToFetch | undefined;
}

/** A commit of a build, with its number and that of its branch's newest commit. */
export type RequestedCommit = { isKnown: true; commit: number; tip: number; sha: string } | MissingCommit;

/** The commit of a build, on its branch. Where it is not known, a fetch of the repository is requested. */
export async function requestedCommit(
  tx: Tx,
  project: ProjectFacts,
  { graph }: History,
  { branchName, commitId }: { branchName: string; commitId: string },
): Promise<RequestedCommit> {
  const missing = async (field: 'branchName' | 'commitId', why: string): Promise<MissingCommit> => {
    const toFetch = await requestFetchSoon(tx, project);
    const detail =
      project.remoteUrl !== null
        ? `${why}, as far as it is fetched; a fetch is requested`
        : `${why}: the project has no remoteUrl`;
    return { isKnown: false, refusal: invalidField(field, detail), toFetch };
  };
  const tip = await branchTip(tx, project.id, branchName);
  if (tip === undefined) return missing('branchName', `The repository has no branch ${branchName}`);
  const commit = (await commitNumbers(tx, project.id, [commitId])).get(commitId);
  const sha = commit === undefined ? undefined : (await commitShas(tx, project.id, [commit])).get(commit);
  if (commit === undefined || sha === undefined || !graph.isAncestor(commit, tip))
    return missing('commitId', `${commitId} is not a commit of the branch ${branchName}`);
  return { isKnown: true, commit, tip, sha };
}
