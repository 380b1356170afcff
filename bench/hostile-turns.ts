import { setTimeout as sleep } from 'node:timers/promises';
import { type Compiled, decideBatch } from '../domain/mocks/decide-batch.ts';
import type { Step } from '../domain/mocks/scenarios/step-rules.ts';
import { createEvaluationThreads } from '../domain/mocks/serving/evaluation-threads.ts';
import { mockRequest } from '../domain/mocks/serving/mock-request.ts';
import { compileSteps } from '../domain/mocks/serving/replay.ts';
import type { Attack } from './hostile-attacks.ts';

const STEPS = 20;
const REQUESTS = 3;
let tenants = 0;

/** The longest turn of the event loop, in ms of the main thread's CPU, while a scenario answers an attack a few times. */
export async function longestTurns({ match, response, body, headers }: Attack): Promise<number> {
  const threads = createEvaluationThreads();
  const steps = Array.from(
    { length: STEPS },
    (_, at): Step => ({
      seq: at + 1,
      request: { method: 'POST', path: '/**', ...match },
      response: { status: 200, ...response },
      times: null,
    }),
  );
  const run = { name: '', revision: 0, cursor: 0, hits: new Map(), variables: {}, matched: 0, unmatched: 0 };
  const scenario = { id: 'attacked', version: 1, seed: 1, unmatched: 'not_found' } as Compiled['scenario'];
  const known: Compiled = {
    workspace: 'w',
    scenario,
    steps: await compileSteps('any', steps),
    bodies: new Map(),
    runs: new Map([['', run]]),
  };
  const bytes = Buffer.from(body);
  const turns = measureTurns();
  for (let at = 0; at < REQUESTS; at++) {
    const request = mockRequest('POST', '/a', headers, bytes);
    // Each has a share of its own.
    await decideBatch(`tenant ${++tenants}`, known, [{ request, run: '' }], threads.evaluate);
  }
  const longestMs = await turns.end();
  await threads.close();
  return longestMs;
}

function measureTurns() {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  // Not each turn: those of an idle loop would do nothing but make garbage.
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.threadCpuUsage();
  }, 1);
  return {
    async end() {
      await sleep(5);
      clearInterval(timer);
      return longestMs;
    },
  };
}
