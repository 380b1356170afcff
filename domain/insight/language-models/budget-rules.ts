/** From this part of a month's budget on, it is announced that little is left. */
export const WARNED_FROM = 0.8;

export interface BudgetState {
  /** In USD per month; null: without limit. */
  budget: number | null;
  /** By calls that ended. */
  spent: number;
  /** For calls that run. */
  reserved: number;
}

/** Why a call must not be made that may cost as much as `estimate`. */
export function budgetRefusal({ budget, spent, reserved }: BudgetState, estimate: number): string | undefined {
  if (budget === null || spent + reserved + estimate <= budget) return undefined;
  const used = reserved > 0 ? `${usd(spent)} are spent and ${usd(reserved)} reserved` : `${usd(spent)} are spent`;
  return `The call may cost ${usd(estimate)}, and of the month's budget of ${usd(budget)}, ${used}`;
}

/** Whether most of the budget is used. */
export const isNearBudget = ({ budget, spent }: Pick<BudgetState, 'budget' | 'spent'>): boolean =>
  budget !== null && spent >= budget * WARNED_FROM;

/** Whether it is to be announced that most of the budget is used. @param warnedOf the budget that was announced in this month. */
export const isToBeWarned = (state: Pick<BudgetState, 'budget' | 'spent'>, warnedOf: number | null): boolean =>
  isNearBudget(state) && (warnedOf === null || (state.budget ?? 0) > warnedOf);

const usd = (amount: number): string => `$${amount.toFixed(amount >= 0.01 || amount === 0 ? 2 : 6)}`;

/** Less of an answer would be cut off before it says anything. */
const OUTPUT_MIN = 256;

/**
 * How many tokens of output a call may have, when all calls of a report share `maxTokens`; undefined where too few are
 * left.
 */
export function outputTokensLeft(
  { maxTokens, usedTokens }: { maxTokens: number; usedTokens: number },
  { inputTokens, maxOutputTokens }: { inputTokens: number; maxOutputTokens: number },
): number | undefined {
  const left = Math.min(maxOutputTokens, maxTokens - usedTokens - inputTokens);
  return left >= Math.min(OUTPUT_MIN, maxOutputTokens) ? left : undefined;
}

/** The first day of the month of UTC that a time is in. */
export const monthOf = (time: Date): string => `${time.toISOString().slice(0, 7)}-01`;
