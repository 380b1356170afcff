import { json } from '../../kernel/data/columns.ts';
import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { FilterError } from '../../events/webhooks/filter-rules.ts';
import {
  type PatternWork,
  PatternWorkError,
  patternWork,
  withPatternWork,
} from '../../events/webhooks/pattern-work.ts';
import { Turns } from '../../kernel/shared/turns.ts';
import { lockScenario } from './active-scenarios.mutations.ts';
import { compileStep } from './compile-step.ts';
import { stepSizes, stepsBySeq } from '../mocks.queries.ts';
import { audit, touch } from '../serving/scenario-trail.ts';
import { ANY_REQUEST, BODIES_MAX_BYTES, SEQ_MAX, type Step, type StepResponse, STEPS_MAX } from './step-rules.ts';
import { givenStep, storedStep, type StoredStep } from './stored-steps.ts';
import { compileSchemas } from '../validate-request.ts';

export type StepChange = {
  request?: Step['request'] | undefined;
  response: Step['response'];
  times?: number | null | undefined;
};

/** Changes a step, or adds it. What is not given of a step that there is stays. Throws `not_found` and `invalid_request`. */
export async function putStep(
  tx: Tx,
  workspaceName: string,
  name: string,
  seq: number,
  { request, response, times }: StepChange,
): Promise<Step> {
  assertSchemas(response);
  const { row, scenario } = await lockScenario(tx, workspaceName, name);
  const [stored] = await stepsBySeq(tx, row.id, [seq]);
  const before = stored && givenStep(stored);
  const step: Step = {
    seq,
    request: request ?? before?.request ?? ANY_REQUEST,
    response,
    times: times === undefined ? (before?.times ?? null) : times,
  };
  const kept = storedStep(step, (field) => field);
  assertCompiles(step, (field) => field, patternWork(STEP_COMPILE_WORK_MAX));
  const sizes = (await stepSizes(tx, row.id)).filter((size) => size.seq !== seq);
  assertRoom(
    sizes.length + 1,
    sizes.reduce((sum, { bytes }) => sum + bytes, kept.body?.length ?? 0),
  );
  const values = rowOf(tx.tenantId, row.id, kept);
  await tx.db
    .insertInto('mock_step')
    .values(values)
    .onConflict((conflict) => conflict.columns(['tenantId', 'scenarioId', 'seq']).doUpdateSet(values))
    .execute();
  scenario.version++;
  touch(tx, scenario);
  audit(tx, before ? 'step_changed' : 'step_added', row, {
    ...(before && { before: summaryOf(before) }),
    after: summaryOf(step),
  });
  return step;
}

/** Gives steps without a number the next one. Throws `invalid_request` for numbers twice. */
export function numbered(steps: readonly (Omit<Step, 'seq'> & { seq?: number | undefined })[]): Step[] {
  const seen = new Set<number>();
  let last = 0;
  return steps.map(({ seq = last + 1, ...step }, index) => {
    if (seen.has(seq)) throw invalidField(`steps/${index}/seq`, `${seq} is the number of another step`);
    if (seq > SEQ_MAX) throw invalidField(`steps/${index}/seq`, `must be at most ${SEQ_MAX}`);
    seen.add(seq);
    last = seq;
    return { ...step, seq };
  });
}

const INSERTED_AT_ONCE = 100;

/** Adds steps to a scenario that has none of these numbers. Throws `invalid_request` for too many, too large or bad ones. */
export async function insertSteps(tx: Tx, scenarioId: string, steps: readonly Step[]): Promise<void> {
  const work = patternWork(SCENARIO_COMPILE_WORK_MAX);
  const turns = new Turns(TURN_MS);
  const rows: ReturnType<typeof rowOf>[] = [];
  for (const [index, step] of steps.entries()) {
    if (turns.isOver) await turns.next();
    const field = (name: string) => `steps/${index}/${name}`;
    assertCompiles(step, field, work);
    rows.push(rowOf(tx.tenantId, scenarioId, storedStep(step, field)));
  }
  assertRoom(
    rows.length,
    rows.reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
  );
  for (let at = 0; at < rows.length; at += INSERTED_AT_ONCE)
    await tx.db
      .insertInto('mock_step')
      .values(rows.slice(at, at + INSERTED_AT_ONCE))
      .execute();
}

const rowOf = (tenantId: string, scenarioId: string, { request, response, ...step }: StoredStep) => ({
  tenantId,
  scenarioId,
  ...step,
  request: json(request),
  response: json(response),
});

function assertRoom(steps: number, bytes: number): void {
  if (steps > STEPS_MAX) throw new DomainError('invalid_request', `A scenario has at most ${STEPS_MAX} steps`);
  if (bytes > BODIES_MAX_BYTES)
    throw new DomainError('invalid_request', `The bodies of a scenario have at most ${BODIES_MAX_BYTES} bytes in all`);
}

/** The most work of compiling the patterns of one step, and of all that are added together: some 45 ms and 1 s of a core. */
const [STEP_COMPILE_WORK_MAX, SCENARIO_COMPILE_WORK_MAX] = [2_000_000, 45_000_000];
/** Others have their turn after so long, between two steps. */
const TURN_MS = 10;

/** Throws `invalid_request` for operators, templates and patterns that mean nothing, and for too many patterns. */
function assertCompiles(step: Step, field: (name: string) => string, work: PatternWork): void {
  try {
    const problem = work(() => withPatternWork(STEP_COMPILE_WORK_MAX, () => compileStep.problem(step)));
    if (problem) throw invalidField(field(problem.field), problem.detail);
  } catch (error) {
    if (!(error instanceof PatternWorkError)) throw error;
    throw invalidField(field('request'), 'too much work: use fewer or shorter patterns in the steps');
  }
}

/** Throws `invalid_request` for schemas that cannot be used. */
function assertSchemas({ validates }: StepResponse): void {
  try {
    if (validates) compileSchemas(validates);
  } catch (error) {
    if (error instanceof FilterError) throw invalidField(error.path, error.message);
    throw error;
  }
}

/** What of a step stands there: bodies and headers may hold secrets. */
const summaryOf = ({ seq, request: { method, path }, response: { status }, times }: Step) => ({
  seq,
  method,
  path,
  status,
  times,
});
