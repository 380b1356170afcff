import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import type { Database } from '../data/tables.ts';
import type { Tx } from '../unit-of-work.ts';
import type { AiCallOutcome } from './language-models.entities.ts';
import type { ModelProvider, ModelUsage } from './language-model.port.ts';

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
    .returning(['spent', 'warnedAt'])
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

/** Notes that it was announced how much of the month's budget is used. */
export const noteWarned = ({ db, tenantId, now }: Tx, integrationId: string, month: string) =>
  db
    .updateTable('ai_budget_month')
    .set({ warnedAt: now })
    .where('tenantId', '=', tenantId)
    .where('integrationId', '=', integrationId)
    .where('month', '=', month)
    .execute();

/** Ends the calls of an integration whose process has ended. */
export const endLostCalls = ({ db, tenantId }: Tx, integrationId: string) =>
  db
    .updateTable('ai_call')
    .set({ outcome: 'lost', error: 'The process that made the call ended', leaseUntil: null, endedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('integrationId', '=', integrationId)
    .where('outcome', '=', 'running')
    .where('leaseUntil', '<', sql<string>`now()`)
    .execute();

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

interface NewCall {
  id: string;
  projectId: string;
  taskExecutionId: string;
  integrationId: string;
  provider: ModelProvider;
  model: string;
  estimate: number;
}

export const insertCall = ({ db, tenantId, now }: Tx, call: NewCall) =>
  db
    .insertInto('ai_call')
    .values({ ...call, tenantId, outcome: 'running', startedAt: now, leaseUntil: LEASE_END })
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
