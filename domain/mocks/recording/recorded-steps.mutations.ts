import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { calledRequest } from '../serving/called-request.ts';
import type { MockRequest } from '../serving/mock-request.ts';
import { MockScenario } from '../mocks.entities.ts';
import { lockScenario } from '../scenarios/active-scenarios.mutations.ts';
import { rewindScenario } from '../mocks.mutations.ts';
import { scenarioByName, type ScenarioRow } from '../mocks.queries.ts';
import { statusAfter } from '../scenarios/scenario-rules.ts';
import { BODIES_MAX_BYTES, BODY_MAX_BYTES, STEP_MAX_BYTES, STEPS_MAX, type Step } from '../scenarios/step-rules.ts';
import { storedStep } from '../scenarios/stored-steps.ts';

/**
 * Adds what was recorded as the next step of a scenario, and notes the call. Answers its number; undefined where the
 * scenario does not record any more, or has no room for it.
 */
export async function addRecordedStep(
  tx: Tx,
  scenarioId: string,
  step: Omit<Step, 'seq'>,
  called: MockRequest,
): Promise<number | undefined> {
  const scenario = await lockRecording(tx, scenarioId);
  if (scenario?.status !== 'recording') return undefined;
  const { last, count, bytes } = await roomOf(tx, scenarioId);
  const stored = isTooLarge(step) ? undefined : storedStep({ ...step, seq: last + 1 }, (field) => field);
  const hasRoom = stored && count < STEPS_MAX && bytes + (stored.body?.length ?? 0) <= BODIES_MAX_BYTES;
  await noteRecordedCall(tx, scenarioId, called, step.response.status, hasRoom ? stored.seq : null);
  if (!hasRoom) return undefined;
  await tx.db
    .insertInto('mock_step')
    .values({
      tenantId: tx.tenantId,
      scenarioId,
      ...stored,
      request: json(stored.request),
      response: json(stored.response),
    })
    .execute();
  await tx.db
    .updateTable('mock_scenario')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('tenantId', '=', tx.tenantId)
    .where('id', '=', scenarioId)
    .execute();
  return stored.seq;
}

/** Notes a call of a scenario that records. @param status of the answer; null: there was none. */
export async function noteRecordedCall(
  tx: Tx,
  scenarioId: string,
  called: MockRequest,
  status: number | null,
  seq: number | null = null,
): Promise<void> {
  tx.noteDone();
  await sql`
    insert into mock_call (tenant_id, scenario_id, run, round, outcome, seq, method, path, status, request)
    select tenant_id, id, '', round, 'recorded', ${seq}::int, ${called.method}, ${called.path.slice(0, 2_000).replaceAll('\0', '').toWellFormed()},
      ${status}::int, ${JSON.stringify(calledRequest(called))}::jsonb
    from mock_scenario where tenant_id = ${tx.tenantId} and id = ${scenarioId}`.execute(tx.db);
}

const lockRecording = ({ db, tenantId }: Pick<Tx, 'db' | 'tenantId'>, id: string) =>
  db
    .selectFrom('mock_scenario')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('status')
    .forUpdate()
    .executeTakeFirst();

const roomOf = ({ db, tenantId }: Pick<Tx, 'db' | 'tenantId'>, scenarioId: string) =>
  db
    .selectFrom('mock_step')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .select([
      sql<number>`coalesce(max(seq), 0)`.as('last'),
      sql<number>`count(*)::int`.as('count'),
      sql<number>`coalesce(sum(octet_length(body)), 0)::int`.as('bytes'),
    ])
    .executeTakeFirstOrThrow();

function isTooLarge({ response: { body, bodyBase64, ...response } }: Omit<Step, 'seq'>): boolean {
  const bytes =
    bodyBase64 === undefined
      ? Buffer.byteLength(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
      : Buffer.byteLength(bodyBase64, 'base64');
  return bytes > BODY_MAX_BYTES || Buffer.byteLength(JSON.stringify(response)) > STEP_MAX_BYTES;
}

/**
 * Lets a scenario record again from the beginning: its steps, runs and calls go. Throws `not_found`, `locked` where another
 * one is active, and `invalid_transition` for one that records or is armed.
 */
export async function recordAgain(tx: Tx, workspaceName: string, name: string): Promise<ScenarioRow> {
  const { row, scenario, workspaceId } = await lockScenario(tx, workspaceName, name);
  const status = statusAfter(scenario.status, 'record');
  if (!status) throw new DomainError('invalid_transition', `The scenario ${name} is ${scenario.status}; stop it first`);
  const other = await tx.em.findOne(MockScenario, {
    tenantId: tx.tenantId,
    workspaceId,
    status: { $in: ['recording', 'armed'] },
  });
  if (other) throw new DomainError('locked', `The scenario ${other.name} of the workspace is ${other.status}`);
  await rewindScenario(tx, workspaceName, name);
  for (const table of ['mock_step', 'mock_call'] as const)
    await tx.db.deleteFrom(table).where('tenantId', '=', tx.tenantId).where('scenarioId', '=', row.id).execute();
  tx.em.assign(scenario, { status, updatedBy: tx.actor.email });
  await tx.em.flush();
  tx.audit({
    source: 'mock',
    action: 'mock_scenario.recorded_again',
    entityType: 'mock_scenario',
    entityId: row.id,
    summary: `The mock scenario ${name} of the workspace ${workspaceName} records again`,
    before: { status: row.status, steps: row.stepCount },
    after: { status, steps: 0 },
  });
  return scenarioByName(tx, workspaceName, name);
}
