import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 200;

/** Asks again until the answer is as it should be; undefined when it is not in time. */
export async function waitFor<Answer>(
  ask: () => Promise<Answer>,
  isIt: (answer: Answer) => boolean,
  timeoutMs: number,
): Promise<Answer | undefined> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
    const answer = await ask();
    if (isIt(answer)) return answer;
  }
  return undefined;
}
