import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { AiCallOutcome } from './language-models.entities.ts';
import type { ModelProvider, ModelUsage } from '../../projects/integrations/model-provider-rules.ts';

/** A call renews its lease several times within this time. */
const LEASE_SECONDS = 60;
const LEASE_END = sql<string>`now() + ${sql.lit(LEASE_SECONDS)} * interval '1 second'`;
export const LEASE_RENEWED_MS = (LEASE_SECONDS / 4) * 1_000;

/** What was spent in a month; nobody else changes it, or reserves anything, until the transaction ends. */
export const lockBudgetMonth = ({ db, tenantId }: Tx, integrationId: string, month: string) =>
  db
    .insertInto('ai_budget_month')
    .values({ tenantId, integrationId, month, spent: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'integrationId', 'month'])
        .doUpdateSet((eb) => ({ spent: eb.ref('ai_budget_month.spent') })),
    )
    .returning(['spent', 'warnedAt', 'warnedOf'])
    .executeTakeFirstOrThrow();

/** Adds to what was spent in a month, which is locked. */
export const addToSpent = ({ db, tenantId }: Tx, integrationId: string, month: string, cost: number) =>
  db
    .updateTable('ai_budget_month')
    .set((eb) => ({ spent: eb('spent', '+', cost) }))
    .where('tenantId', '=', tenantId)
    .where('integrationId', '=', integrationId)
    .where('month', '=', month)
    .execute();

/** Notes that it was announced how much of a month's budget is used. @param budget in USD. */
export const noteWarned = ({ db, tenantId, now }: Tx, integrationId: string, month: string, budget: number) =>
  db
    .updateTable('ai_budget_month')
    .set({ warnedAt: now, warnedOf: budget })
    .where('tenantId', '=', tenantId)
    .where('integrationId', '=', integrationId)
    .where('month', '=', month)
    .execute();

interface LostCalls {
  /** Null: those of the task alone. */
  integrationId: string | null;
  /** Makes one call at a time: whichever still runs is lost, even if its lease has not ended. */
  taskExecutionId: string;
}

/**
 * Ends the calls of an integration, and those of a task, whose process has ended. The provider may bill them, so what was
 * reserved for them is spent. Answers what was spent since in the months concerned.
 */
export async function endLostCalls(
  { db, tenantId }: Tx,
  { integrationId, taskExecutionId }: LostCalls,
): Promise<{ integrationId: string; month: string; spent: number }[]> {
  const { rows } = await sql<{ integrationId: string; month: string; spent: number }>`
    with lost as (
      update ai_call set outcome = 'lost', error = 'The process that made the call ended', lease_until = null,
        cost = nullif(estimate, 0), is_estimated = true, ended_at = now()
      where tenant_id = ${tenantId} and outcome = 'running'
        and (task_execution_id = ${taskExecutionId} or integration_id = ${integrationId} and lease_until < now())
      returning integration_id, started_at, cost),
    spent as (
      select integration_id, date_trunc('month', started_at at time zone 'UTC')::date as month, sum(cost) as cost
      from lost where cost > 0 group by 1, 2)
    update ai_budget_month m set spent = m.spent + s.cost from spent s
    where m.tenant_id = ${tenantId} and m.integration_id = s.integration_id and m.month = s.month
    returning m.integration_id as "integrationId", m.month::text as month, m.spent`.execute(db);
  return rows;
}

/** In USD, what calls of an integration that run may cost. */
export async function reservedCost({ db, tenantId }: Reads, integrationId: string): Promise<number> {
  const { reserved } = await db
    .selectFrom('ai_call')
    .where('tenantId', '=', tenantId)
    .where('integrationId', '=', integrationId)
    .where('outcome', '=', 'running')
    .select(sql<number>`coalesce(sum(estimate), 0)`.as('reserved'))
    .executeTakeFirstOrThrow();
  return reserved;
}

/** Tokens of all calls for a task. */
export async function tokensOfTask({ db, tenantId }: Reads, taskExecutionId: string): Promise<number> {
  const { tokens } = await db
    .selectFrom('ai_call')
    .where('tenantId', '=', tenantId)
    .where('taskExecutionId', '=', taskExecutionId)
    .select(sql<number>`coalesce(sum(input + output + cache_read + cache_write), 0)::float8`.as('tokens'))
    .executeTakeFirstOrThrow();
  return tokens;
}

/** The calls for the question that a task asks now: those since its last answer. */
export async function callsOfQuestion(
  { db, tenantId }: Reads,
  taskExecutionId: string,
): Promise<{ calls: number; startedAt: string | null }> {
  const ofTask = db
    .selectFrom('ai_call')
    .where('tenantId', '=', tenantId)
    .where('taskExecutionId', '=', taskExecutionId);
  const answeredAt = ofTask.where('outcome', '=', 'ok').select((eb) => eb.fn.max('startedAt').as('at'));
  return ofTask
    .where('startedAt', '>', (eb) => eb.fn.coalesce(answeredAt, sql<string>`'-infinity'::timestamptz`))
    .select([sql<number>`count(*)::int`.as('calls'), (eb) => eb.fn.min('startedAt').as('startedAt')])
    .executeTakeFirstOrThrow();
}

interface NewCall {
  id: string;
  projectId: string;
  taskExecutionId: string;
  integrationId: string;
  provider: ModelProvider;
  model: string;
  estimate: number;
  /** Tokens that are reserved, at most so many. */
  input: number;
  output: number;
}

const NO_OTHER_TOKENS = { reasoning: 0, cacheRead: 0, cacheWrite: 0 };

export const insertCall = ({ db, tenantId, now }: Tx, call: NewCall) =>
  db
    .insertInto('ai_call')
    .values({ ...call, ...NO_OTHER_TOKENS, tenantId, outcome: 'running', startedAt: now, leaseUntil: LEASE_END })
    .execute();

/** Keeps the reservation of a call that runs. */
export const renewLease = ({ db, tenantId }: Tx, id: string) =>
  db
    .updateTable('ai_call')
    .set({ leaseUntil: LEASE_END })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('outcome', '=', 'running')
    .execute();

export interface EndedCall {
  id: string;
  outcome: AiCallOutcome;
  usage: ModelUsage;
  isEstimated: boolean;
  cost: number | null;
  durationMs: number;
  error: string | null;
}

/** What was taken as the cost of a call that was held for lost; 0: it was not. */
export async function costOfLost({ db, tenantId }: Reads, id: string): Promise<number> {
  const lost = await db
    .selectFrom('ai_call')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('outcome', '=', 'lost')
    .select('cost')
    .executeTakeFirst();
  return lost?.cost ?? 0;
}

export const endCall = ({ db, tenantId, now }: Tx, { id, usage, ...ended }: EndedCall) =>
  db
    .updateTable('ai_call')
    .set({ ...ended, ...usage, leaseUntil: null, endedAt: now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();

/** Calls of models for a project since a day (UTC), the day included, added up; of each task one session. */
export async function callsSince({ db, tenantId }: Reads, projectId: string, day: string) {
  return db
    .selectFrom('ai_call')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('startedAt', '>=', `${day}T00:00:00Z`)
    .where('outcome', '<>', 'running')
    .select([
      sql<number>`count(distinct task_execution_id)::int`.as('sessions'),
      sql<number>`count(*)::int`.as('prompts'),
      sql<number>`count(*) filter (where outcome = 'ok')::int`.as('turns'),
      ...(['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite', 'durationMs'] as const).map((name) =>
        sql<number>`coalesce(sum(${sql.ref(name)}), 0)::float8`.as(name),
      ),
      sql<number | null>`sum(cost)`.as('cost'),
    ])
    .executeTakeFirstOrThrow();
}

/** Forgets calls that began more than so many days ago, in all tenants. */
export async function purgeCalls(system: Database, keptDays: number): Promise<number> {
  const deleted = await sql`
    delete from ai_call where started_at < now() - ${keptDays} * interval '1 day'`.execute(system);
  return Number(deleted.numAffectedRows ?? 0n);
}

/** Forgets what was spent in months that began more than so many days ago, in all tenants. */
export async function purgeBudgetMonths(system: Database, keptDays: number): Promise<number> {
  const deleted = await sql`
    delete from ai_budget_month where month < current_date - ${keptDays}::int`.execute(system);
  return Number(deleted.numAffectedRows ?? 0n);
}
