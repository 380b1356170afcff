import type { Tx } from '../../../unit-of-work.ts';
import type { ExecutorName } from './executor-rules.ts';

/**
 * Why the service cannot execute a type now that it otherwise executes itself; null: it can, or something else
 * executes it.
 */
export async function whyNotByItself(
  tx: Tx,
  { id, executor, projectId }: { id: string; executor: ExecutorName | undefined; projectId?: string | undefined },
): Promise<string | null> {
  if (executor !== 'activity') return null;
  const reasons = await tx.tell('typeOffered', { id, projectId });
  return reasons.find((reason) => reason !== null) ?? null;
}
