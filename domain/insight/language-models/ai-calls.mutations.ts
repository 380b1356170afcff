import { AI_CALL_ENDED } from '../metrics/own-metric-rules.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import {
  addToSpent,
  costOfLost,
  endCall,
  type EndedCall,
  endLostCalls,
  insertCall,
  lockBudgetMonth,
  noteWarned,
  reservedCost,
  tokensOfTask,
} from './ai-calls.queries.ts';
import { budgetRefusal, isToBeWarned, monthOf, outputTokensLeft, WARNED_FROM } from './budget-rules.ts';
import type { ConfiguredModel } from './configured-model.queries.ts';
import { highestCostOf } from '../../projects/integrations/price-rules.ts';

export interface WantedCall {
  configured: ConfiguredModel;
  projectId: string;
  taskExecutionId: string;
  /** At most so many, of the input. */
  inputTokens: number;
  maxOutputTokens: number;
}

export interface ReservedCall {
  isReserved: true;
  id: string;
  /** First day of the month, in UTC, whose budget pays the call: `2026-11-01`. */
  month: string;
  maxOutputTokens: number;
}

/** Reserves the cost of a call. Who reserves from the same budget waits meanwhile, so that no two exceed it together. */
export async function reserveCall(
  tx: Tx,
  { configured, projectId, taskExecutionId, inputTokens, maxOutputTokens }: WantedCall,
): Promise<ReservedCall | { isReserved: false; reason: string }> {
  const { integrationId, settings, model } = configured;
  const month = monthOf(tx.now);
  const before = await lockBudgetMonth(tx, integrationId, month);
  const lost = await endLostCalls(tx, { integrationId, taskExecutionId });
  const changed = lost.find((each) => each.integrationId === integrationId && each.month === month);
  const { spent } = changed ?? before;
  const usedTokens = await tokensOfTask(tx, taskExecutionId);
  const left = outputTokensLeft(
    { maxTokens: settings.maxTokensPerReport, usedTokens },
    { inputTokens, maxOutputTokens },
  );
  if (left === undefined)
    return {
      isReserved: false,
      reason: `Of ${settings.maxTokensPerReport} tokens (maxTokensPerReport) ${usedTokens} are used, and the call needs about ${inputTokens} for its input`,
    };
  const estimate = highestCostOf({ inputTokens, maxOutputTokens: left }, settings);
  const reserved = await reservedCost(tx, integrationId);
  const refusal = budgetRefusal({ budget: settings.monthlyBudget, spent, reserved }, estimate);
  if (refusal !== undefined) return { isReserved: false, reason: refusal };
  const id = newId();
  const { provider } = settings;
  const tokens = { input: inputTokens, output: left };
  await insertCall(tx, { id, projectId, taskExecutionId, integrationId, provider, model, estimate, ...tokens });
  return { isReserved: true, id, month, maxOutputTokens: left };
}

/** Keeps what a call came to, and releases what was reserved for it. The first that uses most of a budget announces it. */
export async function settleCall(
  tx: Tx,
  { integrationId, name, repositoryIdentifier, settings, model }: ConfiguredModel,
  month: string,
  ended: EndedCall,
): Promise<void> {
  const before = await lockBudgetMonth(tx, integrationId, month);
  const spentAlready = await costOfLost(tx, ended.id);
  await endCall(tx, ended);
  const { usage, cost, durationMs } = ended;
  tx.measure({
    event: AI_CALL_ENDED,
    data: { repositoryIdentifier, provider: settings.provider, model, ...usage, cost, durationMs },
  });
  const added = (cost ?? 0) - spentAlready;
  if (added !== 0) await addToSpent(tx, integrationId, month, added);
  const spent = before.spent + added;
  const { monthlyBudget: budget } = settings;
  if (budget === null || !isToBeWarned({ budget, spent }, before.warnedOf)) return;
  await noteWarned(tx, integrationId, month, budget);
  emitEvent(tx, 'ai_budget.warning', {
    integrationId,
    name,
    repositoryIdentifier,
    month: month.slice(0, 7),
    budget,
    spent,
    percent: WARNED_FROM * 100,
  });
}
