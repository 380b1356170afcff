import type { Reads } from '../data/fenced-reads.ts';
import { isoOf } from '../shared/date-time-rules.ts';
import { type Warning, warning } from '../shared/warning-rules.ts';
import { fetchWithoutCommit } from './remote-facts.queries.ts';

/** Whether the copy of a project's remote lacks a commit. @param path of the commit in its resource. */
export async function commitWarnings(
  reads: Reads,
  { id, remoteUrl }: { id: string; remoteUrl?: string | null | undefined },
  commitSha: string,
  path: readonly string[],
): Promise<Warning[]> {
  const fetchedAt = remoteUrl ? await fetchWithoutCommit(reads, id, commitSha) : undefined;
  if (fetchedAt === undefined) return [];
  const message = `The remote, as fetched at ${isoOf(fetchedAt)}, has no commit ${commitSha}, or several that begin with it`;
  return [warning('unknown_commit', path, message)];
}
