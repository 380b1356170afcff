/** Between two questions: most waits are short, and a question costs more than a while of waiting. */
const [FIRST_PAUSE_MS, PAUSE_MAX_MS] = [20, 150];

/**
 * Asks again and again until the answer is there; fails with the last one after `timeoutMs`, which only keeps a test that
 * hangs from hanging for ever: no test that passes waits so long on any machine.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isThere: (answer: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MAX_MS)) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(
        `not there after ${timeoutMs} ms; the last answer was ${JSON.stringify(answer)?.slice(0, 2_000)}`,
      );
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
