import type { Tx } from '../../../unit-of-work.ts';
import { CHILD_OF_RELEASE, type FlowType, flowType } from '../flow-types.ts';
import type { OfferedType } from '../runs.hooks.ts';
import { executorHere, type MeansHere } from './commands-file.ts';
import { whyUnavailable } from './executor-rules.ts';

/**
 * Why nothing executes a type now; null: it would be executed. Whether the children of a run are executed is asked of each
 * by itself, as its environment is known.
 */
export async function whyNotExecuted(
  tx: Tx,
  type: Pick<FlowType, 'id' | 'own'>,
  means: MeansHere,
  { projectId, run }: { projectId?: string | undefined; run?: OfferedType['run'] } = {},
): Promise<string | null> {
  const executor = executorHere(type, means);
  if (executor === undefined) return whyUnavailable(type.id, means.wanted);
  const child = executor === 'children' && run === undefined ? flowType(CHILD_OF_RELEASE) : undefined;
  if (child) return whyNotExecuted(tx, child, { ...means, hasPipeline: false }, { projectId });
  if (executor !== 'activity') return null;
  const reasons = await tx.tell('typeOffered', { id: type.id, projectId, run });
  return reasons.find((reason) => reason !== null) ?? null;
}
