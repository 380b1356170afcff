import { hasHostedProvider, localPlaces, whyNotLocal } from '../../../review/browser-sessions/providers.queries.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { ExecutorName } from './executor-rules.ts';
import { RECORD_SESSION } from '../flow-types.ts';

/**
 * Why the service cannot carry out a type now that it otherwise carries out itself; null: it can, or something else
 * carries it out.
 */
export async function whyNotByItself(
  reads: Reads,
  { id, executor, projectId }: { id: string; executor: ExecutorName | undefined; projectId?: string | undefined },
): Promise<string | null> {
  if (id !== RECORD_SESSION || executor !== 'activity') return null;
  const why = whyNotLocal(await localPlaces(reads));
  return why !== null && (await hasHostedProvider(reads, projectId)) ? null : why;
}
