import type { Tx } from '../../../unit-of-work.ts';
import type { OfferedType } from '../runs.hooks.ts';
import type { ExecutorName } from './executor-rules.ts';

/**
 * Why the service cannot execute a type now that it otherwise executes itself; null: it can, or something else
 * executes it.
 */
export async function whyNotByItself(
  tx: Tx,
  {
    executor,
    id,
    projectId,
    run,
  }: Omit<OfferedType, 'projectId'> & { executor: ExecutorName | undefined; projectId?: string | undefined },
): Promise<string | null> {
  if (executor !== 'activity') return null;
  const reasons = await tx.tell('typeOffered', { id, projectId, run });
  return reasons.find((reason) => reason !== null) ?? null;
}
