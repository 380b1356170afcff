import { parentPort } from 'node:worker_threads';
import { patternWork } from '../../events/webhooks/pattern-work.ts';
import { Turns } from '../../kernel/shared/turns.ts';
import type { StoredStepParts } from '../scenarios/compile-step.ts';
import { evaluate, type EvaluatedScenario, wholeBudget } from './evaluate.ts';
import type { EvaluationOutcome, Question, ThreadMessage } from './evaluation-threads.ts';
import { mockRequest } from './mock-request.ts';
import { compileSteps } from './replay.ts';

/** The steps of a scenario that has not come as a whole yet, or was not asked yet. */
const received = new Map<string, StoredStepParts[]>();
const scenarios = new Map<string, () => Promise<EvaluatedScenario>>();

parentPort?.on('message', (message: ThreadMessage) => {
  const { kind, key } = message;
  switch (kind) {
    case 'steps':
      received.set(key, (received.get(key) ?? []).concat(JSON.parse(message.json) as StoredStepParts[]));
      return;
    case 'scenario': {
      const { mode, bodies } = message;
      let compiled: Promise<EvaluatedScenario> | undefined;
      const steps = received.get(key) ?? [];
      received.delete(key);
      scenarios.set(key, () => (compiled ??= compileSteps(mode, steps).then((all) => ({ steps: all, bodies }))));
      return;
    }
    case 'forget':
      scenarios.delete(key);
      return;
    case 'evaluate':
      void outcomeOf(key, message.question).then((outcome) => parentPort?.postMessage(outcome));
  }
});

async function outcomeOf(
  key: string,
  { method, target, headers, bytes, ...asked }: Question,
): Promise<EvaluationOutcome> {
  try {
    const scenario = await scenarios.get(key)?.();
    if (!scenario) throw new Error('A thread is asked about a scenario that it was not given');
    const request = mockRequest(method, target, headers, Buffer.from(bytes.buffer));
    const work = patternWork(Number.MAX_SAFE_INTEGER);
    const verdict = await evaluate(
      scenario,
      { ...asked, request },
      { begin: wholeBudget(work), turns: new Turns(Infinity) },
    );
    return { verdict, used: work.used() };
  } catch (error) {
    return { error };
  }
}
