import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { type Warning, warning } from '../../kernel/shared/warning-rules.ts';
import { copyFetchedAt } from './graph/branch-evidence.ts';
import { commitNumbers } from './commits.queries.ts';

/** Says of a commit that the copy of a remote does not have it. @param path of the commit in its resource. */
export const unknownCommit = (fetchedAt: string, commitSha: string, path: readonly string[]): Warning =>
  warning(
    'unknown_commit',
    path,
    `The remote, as fetched at ${isoOf(fetchedAt)}, has no commit ${commitSha}, or several that begin with it`,
  );

/** Whether the copy of a project's remote lacks a commit. @param path of the commit in its resource. */
export async function commitWarnings(
  reads: Reads,
  projectId: string,
  commitSha: string,
  path: readonly string[],
): Promise<Warning[]> {
  const fetchedAt = await copyFetchedAt(reads, projectId);
  if (fetchedAt === null || (await commitNumbers(reads, projectId, [commitSha])).size > 0) return [];
  return [unknownCommit(fetchedAt, commitSha, path)];
}
