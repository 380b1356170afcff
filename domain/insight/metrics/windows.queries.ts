import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type AiMeasure, type AiUsageChange } from './ai-usage-rules.ts';
import type { WindowChange } from './event-rules.ts';

/** An array as PostgreSQL reads it, of ids or finite numbers: the driver would quote each, which costs as much as the rest. */
const arrayText = (values: readonly (string | number)[]): string => `{${values.join()}}`;

/** Adds changes to their windows, each of which is given once. In one order for all, so that none waits in a circle. */
export async function addToWindows({ db, tenantId }: Tx, changes: readonly WindowChange[]): Promise<void> {
  await sql`
    insert into metric_window as w (tenant_id, series, ends_at, last_at, last, count, sum)
    select ${tenantId}, id, to_timestamp(ends_at / 1000), to_timestamp(last_at / 1000), last, count, sum
    from unnest(
      ${arrayText(changes.map(({ series }) => series.id))}::uuid[],
      ${arrayText(changes.map(({ endsAt }) => endsAt))}::float8[],
      ${arrayText(changes.map(({ lastAt }) => lastAt))}::float8[],
      ${arrayText(changes.map(({ last }) => last))}::float8[],
      ${arrayText(changes.map(({ count }) => count))}::float8[],
      ${arrayText(changes.map(({ sum }) => sum))}::float8[])
      as given (id, ends_at, last_at, last, count, sum)
    order by id, ends_at
    on conflict (tenant_id, series, ends_at) do update set
      last = case when (excluded.last_at, excluded.last) > (w.last_at, w.last) then excluded.last else w.last end,
      last_at = greatest(excluded.last_at, w.last_at),
      count = w.count + excluded.count,
      sum = w.sum + excluded.sum,
      revision = w.revision + 1,
      is_sent = false`.execute(db);
}

/** Adds up the use of AI; repositories that are not registered are left out. */
export async function addAiUsage({ db, tenantId }: Tx, changes: readonly AiUsageChange[]): Promise<void> {
  await sql`
    insert into ai_usage_day as u (tenant_id, project_id, day, measure, amount)
    select ${tenantId}, p.id, given.day, given.measure, given.amount
    from unnest(${changes.map(({ repositoryIdentifier }) => repositoryIdentifier)}::text[],
      ${changes.map(({ day }) => day)}::date[], ${changes.map(({ measure }) => measure)}::text[],
      ${changes.map(({ amount }) => amount)}::float8[]) as given (repository, day, measure, amount)
    join project p on p.tenant_id = ${tenantId} and p.identifier = given.repository
    order by p.id, given.day, given.measure
    on conflict (tenant_id, project_id, day, measure) do update set amount = u.amount + excluded.amount`.execute(db);
}

/** The use of AI that was reported of a project since a day, the day included. */
export const aiUsageSince = ({ db, tenantId }: Reads, projectId: string, day: string) =>
  db
    .selectFrom('ai_usage_day')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('day', '>=', day)
    .groupBy('measure')
    .select(['measure', sql<number>`sum(amount)`.as('amount')])
    .$narrowType<{ measure: AiMeasure }>()
    .execute();
