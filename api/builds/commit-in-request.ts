import { type CommitOnBranch, commitOnBranch } from '../../domain/builds/commit-on-branch.ts';
import type { History } from '../../domain/git/commit-graph-cache.ts';
import { requestFetch } from '../../domain/git/mirror.queries.ts';
import type { ProjectFacts } from '../../domain/projects/projects.queries.ts';
import { type DomainError, invalidField } from '../../domain/shared/errors.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { wakeMirror } from '../../workflows/git/git-mirror.contract.ts';
import type { Launch } from '../../workflows/launch.ts';

/** A commit that is not known yet; the project whose repository is to be fetched, where it has one. */
export interface MissingCommit {
  refusal: DomainError;
  toFetch: ProjectFacts | undefined;
}

/** The commit of a build, on its branch; when it is unknown, a fetch is asked for and the refusal is for after the commit. */
export async function commitInRequest(
  tx: Tx,
  project: ProjectFacts,
  history: History,
  { branchName, commitId }: { branchName: string; commitId: string },
  place: 'query' | 'body',
): Promise<Extract<CommitOnBranch, { isKnown: true }> | MissingCommit> {
  const found = await commitOnBranch(tx, history, branchName, commitId);
  if (found.isKnown) return found;
  const toFetch = project.remoteUrl === null ? undefined : project;
  if (toFetch) await requestFetch(tx, project.id);
  const why = toFetch
    ? `${found.why}, as far as it is fetched; a fetch is asked for`
    : `${found.why}: the project has no remoteUrl`;
  return { refusal: invalidField(`#/${place}/${found.member}`, why), toFetch };
}

/** Wakes the mirror of what is missing, and refuses the request. */
export function fetchMissing(launch: Launch, { refusal, toFetch }: MissingCommit): never {
  if (toFetch)
    wakeMirror(launch, { tenantId: toFetch.tenantId, projectId: toFetch.id, repositoryIdentifier: toFetch.identifier });
  throw refusal;
}
