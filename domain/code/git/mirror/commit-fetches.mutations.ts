import type { Project } from '../../../projects/projects/projects.entities.ts';
import { type TenantKey, tenantOf } from '../../../kernel/shared/actor.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { commitNumbers } from '../commits.queries.ts';
import { requestCommitFetch } from './commit-fetches.queries.ts';

/** A mirror that is to be signalled once the transaction is committed. */
export interface MirrorToFetch extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  /** How long to wait before: commits that are not known cause a fetch every ten seconds at most. */
  waitMs: number;
}

export type FetchedProject = Pick<Project, 'id' | 'identifier' | 'remoteUrl'>;

/** Requests a fetch of a project's repository; undefined where it has none, or a fetch is requested already. */
export async function requestFetchSoon(tx: Tx, project: FetchedProject): Promise<MirrorToFetch | undefined> {
  if (typeof project.remoteUrl !== 'string') return undefined;
  const waitMs = await requestCommitFetch(tx, project.id);
  if (waitMs === undefined) return undefined;
  return { ...tenantOf(tx.actor), projectId: project.id, repositoryIdentifier: project.identifier, waitMs };
}

/** Requests a fetch where a commit that somebody names, by its id or the beginning of it, is not known. */
export async function fetchUnknownCommits(
  tx: Tx,
  project: FetchedProject,
  shas: readonly string[],
): Promise<MirrorToFetch | undefined> {
  if (typeof project.remoteUrl !== 'string') return undefined;
  const known = await commitNumbers(tx, project.id, shas);
  return shas.every((sha) => known.has(sha)) ? undefined : requestFetchSoon(tx, project);
}
