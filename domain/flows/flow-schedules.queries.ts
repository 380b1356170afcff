import type { ActorReads } from '../data/fenced-reads.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';

/** Moments are the database's text. */
export interface ScheduleRow {
  id: string;
  name: string;
  cron: string;
  timezone: string;
  payload: Record<string, unknown>;
  schedulePath: string;
  repositoryIdentifier: string | null;
  createdBy: string;
  createdAt: string;
}

/** The most schedules of a tenant: lists of them are not paged. */
export const SCHEDULES_MAX = 500;

const SELECT = `
  select s.id, s.name, s.cron, s.timezone, s.payload, s.schedule_path as "schedulePath", p.identifier as "repositoryIdentifier",
    s.created_by as "createdBy", s.created_at as "createdAt"
  from flow_schedule s left join project p on p.tenant_id = s.tenant_id and p.id = s.project_id
  where s.tenant_id = ? and s.deleted_at is null`;

export const listSchedules = ({ sql, tenantId }: ActorReads): Promise<ScheduleRow[]> =>
  sql(`${SELECT} order by s.name limit ${SCHEDULES_MAX}`, [tenantId]);

/** Undefined when there is none, or no longer. */
export const findSchedule = async (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  id: string,
): Promise<ScheduleRow | undefined> => (await sql<ScheduleRow>(`${SELECT} and s.id = ?`, [tenantId, id]))[0];

export type NewSchedule = Pick<ScheduleRow, 'name' | 'cron' | 'timezone' | 'payload' | 'schedulePath'> & {
  projectId: string | null;
};

/** Throws `already_exists` for a taken name, `invalid_request` when there are too many. */
export async function insertSchedule(
  tx: Tx,
  { name, cron, timezone, payload, schedulePath, projectId }: NewSchedule,
): Promise<ScheduleRow> {
  const [{ count } = { count: 0 }] = await tx.sql<{ count: number }>(
    'select count(*)::int as count from flow_schedule where tenant_id = ? and deleted_at is null',
    [tx.tenantId],
  );
  if (count >= SCHEDULES_MAX)
    throw new DomainError('invalid_request', `A tenant has at most ${SCHEDULES_MAX} schedules`);
  const id = newId();
  const made = await tx.sql(
    `insert into flow_schedule (id, tenant_id, project_id, name, cron, timezone, payload, schedule_path, created_by)
     values (?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?) on conflict (tenant_id, name) where deleted_at is null do nothing returning 1`,
    [id, tx.tenantId, projectId, name, cron, timezone, JSON.stringify(payload), schedulePath, tx.actor.email],
  );
  if (made.length === 0) throw new DomainError('already_exists', `There is already a schedule named ${name}`);
  const schedule = await findSchedule(tx, id);
  if (!schedule) throw notFound('The schedule');
  return schedule;
}

/** Marks a schedule as removed; it stays as a row until the engine has forgotten it. Throws `not_found`. */
export async function removeSchedule(tx: Tx, id: string): Promise<ScheduleRow> {
  const schedule = await findSchedule(tx, id);
  if (!schedule) throw notFound('The schedule');
  await tx.sql(
    'update flow_schedule set deleted_at = now(), synced_at = null, updated_at = now() where tenant_id = ? and id = ?',
    [tx.tenantId, id],
  );
  return schedule;
}

export async function noteSynced({ sql, tenantId }: Tx, id: string): Promise<void> {
  await sql('update flow_schedule set synced_at = now() where tenant_id = ? and id = ?', [tenantId, id]);
}
