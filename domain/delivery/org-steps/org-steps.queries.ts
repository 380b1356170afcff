import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { isEnded, STEP_MOVES, STEP_STATES, type StepProgress, type StepState } from './org-step-rules.ts';

/** A step that a run is about to do. */
export interface NewStep {
  /** For people. */
  name: string;
  orgId: string | null;
  /** What the org will be asked for; no secrets. */
  intent?: Record<string, unknown>;
}

const BEFORE_ASKED: readonly StepState[] = ['planned', 'asked'];

/** A run has at most so many steps. */
export const STEPS_MAX = 500;

const COLUMNS = [
  'id',
  'runId',
  'position',
  'name',
  'orgId',
  'state',
  'intent',
  'externalId',
  'detail',
  'progress',
  'error',
  'result',
  'updatedAt',
  'askedAt',
  'endedAt',
] as const;

/** All steps of a run, in their order. */
export const stepsOfRun = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('org_step')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .orderBy('position')
    .limit(STEPS_MAX)
    .select(COLUMNS)
    .execute();

/** The steps of all runs that have one of these ids in an org. */
export const stepsWithIds = ({ db, tenantId }: Reads, orgId: string, externalIds: readonly string[]) =>
  db
    .selectFrom('org_step')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where((eb) => isOneOf(eb, 'externalId', externalIds))
    .select(['id', 'externalId'])
    .execute();

export type StepRow = Awaited<ReturnType<typeof stepsOfRun>>[number];

/**
 * Whether another step, of a run of the same type or of the same name, may have begun something in an org since then whose
 * id nobody knows.
 */
export async function isAnotherAsked(
  { db, tenantId }: Reads,
  orgId: string,
  { id, runId, name }: Pick<StepRow, 'id' | 'runId' | 'name'>,
  since: Date,
): Promise<boolean> {
  const found = await db
    .selectFrom('org_step as s')
    .innerJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 's.tenantId').onRef('r.id', '=', 's.runId'))
    .innerJoin('flow_run as own', 'own.tenantId', 'r.tenantId')
    .where('s.tenantId', '=', tenantId)
    .where('s.orgId', '=', orgId)
    .where('s.id', '!=', id)
    .where('s.externalId', 'is', null)
    .where('s.askedAt', '>=', since.toISOString())
    .where((eb) => isOneOf(eb, 's.state', ['asked', 'unknown']))
    .where('own.id', '=', runId)
    .where((eb) => eb.or([eb('own.taskType', '=', eb.ref('r.taskType')), eb('s.name', '=', name)]))
    .select('s.id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Plans the steps of a run, which was planned by none or by an earlier attempt; what was planned first stays. Answers all
 * steps of the run.
 */
export async function planSteps(tx: Tx, runId: string, steps: readonly NewStep[]): Promise<StepRow[]> {
  const before = await stepsOfRun(tx, runId);
  if (before.length > 0 || steps.length === 0) return before;
  await insertSteps(tx, runId, steps, 0);
  return stepsOfRun(tx, runId);
}

/** Adds a step behind those that a run has, unless it has one of this name. */
export async function addStep(tx: Tx, runId: string, step: NewStep): Promise<StepRow[]> {
  const before = await stepsOfRun(tx, runId);
  if (before.some(({ name }) => name === step.name)) return before;
  await insertSteps(tx, runId, [step], (before.at(-1)?.position ?? -1) + 1);
  return stepsOfRun(tx, runId);
}

async function insertSteps({ db, tenantId }: Tx, runId: string, steps: readonly NewStep[], first: number) {
  await db
    .insertInto('org_step')
    .values(
      steps.map(({ name, orgId, intent = {} }, index) => ({
        id: newId(),
        tenantId,
        runId,
        position: first + index,
        name,
        orgId,
        intent: json(intent),
      })),
    )
    .onConflict((conflict) => conflict.columns(['tenantId', 'runId', 'position']).doNothing())
    .execute();
}

/**
 * Claims a step that is about to be asked for, in whose row nothing has changed since it was read; false: another attempt has
 * it.
 */
export async function claimStep(
  { db, tenantId, now }: Tx,
  { id, state, askedAt }: Pick<StepRow, 'id' | 'state' | 'askedAt'>,
): Promise<boolean> {
  const claimed = await db
    .updateTable('org_step')
    .set({ state: 'asked', askedAt: now, updatedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('state', '=', state)
    .where((eb) => isOneOf(eb, 'state', BEFORE_ASKED))
    .where('askedAt', 'is not distinct from', askedAt)
    .returning('id')
    .executeTakeFirst();
  return claimed !== undefined;
}

/** How a step moves on; what is left out stays as it is. */
export interface StepMove {
  state?: StepState;
  externalId?: string;
  detail?: string | null;
  progress?: StepProgress | null;
  error?: string | null;
  result?: Record<string, unknown>;
}

/**
 * Moves a step on, and notes its progress. Answers the step; undefined where it has moved meanwhile to a state from which
 * this does not follow.
 */
export async function moveStep(
  { db, tenantId, now }: Tx,
  id: string,
  { state, progress, result, ...move }: StepMove,
): Promise<StepRow | undefined> {
  const from = STEP_STATES.filter((before) => {
    const after: readonly string[] = STEP_MOVES[before];
    return state === undefined ? !isEnded(before) : before === state || after.includes(state);
  });
  return db
    .updateTable('org_step')
    .set({
      ...move,
      ...(state !== undefined && { state }),
      ...(state === 'planned' && { externalId: null }),
      ...(state !== undefined && isEnded(state) && { endedAt: now }),
      ...(progress !== undefined && { progress: progress === null ? null : json(progress) }),
      ...(result !== undefined && { result: json(result) }),
      updatedAt: sql<string>`now()`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where((eb) => isOneOf(eb, 'state', from))
    .returning(COLUMNS)
    .executeTakeFirst();
}
