import { type Place, StepFailed, type Turn, until } from './played-page.ts';

/** Waits until an expression is true in a page, or what it promises is. Throws `StepFailed`. */
export async function waitForExpression({ page, frame }: Place, expression: string, turn: Turn): Promise<void> {
  let isBroken = false;
  const found = await until(turn, async () => {
    try {
      const isTrue = await frame.evaluate<boolean>(`(async () => Boolean(await (${expression}\n)))()`);
      isBroken = false;
      return isTrue ? true : undefined;
    } catch (error) {
      // The page may have navigated meanwhile.
      if (page.isClosed()) throw error;
      isBroken = true;
      return undefined;
    }
  });
  if (found) return;
  throw new StepFailed('assertion_failed', `The expression ${isBroken ? 'threw' : 'was not true'} within ${turn.text}`);
}
