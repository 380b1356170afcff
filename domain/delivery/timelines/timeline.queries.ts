import { type RawBuilder, sql } from 'kysely';
import type { PlaceCursor } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { rankOf, type TimelineType } from './timeline-rules.ts';

/** An item of a timeline; members that it is not about are null. */
export interface TimelineItem {
  /** Tells items of the same moment apart, and orders them. */
  key: string;
  /** The database's text. */
  at: string;
  type: TimelineType;
  by: string | null;
  /** How a deployment, an approval, a run, a lock or a hold ended, or what the candidate was afterwards. */
  status: string | null;
  environmentId: string | null;
  environmentName: string | null;
  domain: string | null;
  releaseName: string | null;
  executionId: string | null;
  approvalId: string | null;
  ticketId: string | null;
  taskType: string | null;
  detail: string | null;
  /** When a hold is over by itself: the database's text. */
  until: string | null;
}

type Columns = Partial<Record<Exclude<keyof TimelineItem, 'key' | 'at' | 'type'>, RawBuilder<unknown>>>;

const COLUMNS = {
  by: 'text',
  status: 'text',
  environmentId: 'uuid',
  environmentName: 'text',
  domain: 'text',
  releaseName: 'text',
  executionId: 'text',
  approvalId: 'uuid',
  ticketId: 'uuid',
  taskType: 'text',
  detail: 'text',
  until: 'timestamptz',
} as const satisfies Record<keyof Columns, string>;

/** Where items of one type come from: rows with their id and moment. */
export interface TimelineSource {
  type: TimelineType;
  id: RawBuilder<unknown>;
  at: RawBuilder<unknown>;
  columns: Columns;
  /** `from … where …` */
  rows: RawBuilder<unknown>;
}

const selectFrom = (
  { type, id, at, columns, rows }: TimelineSource,
  cursor: PlaceCursor | undefined,
  limit: number,
) => {
  const key = sql`(${rankOf(type)}::text || ':' || ${id}::text) collate "C"`;
  const others = Object.entries(COLUMNS).map(
    ([name, dbType]) =>
      sql`${columns[name as keyof Columns] ?? sql`null`}::${sql.raw(dbType)} as ${sql.raw(`"${name}"`)}`,
  );
  const after = cursor ? sql`and (${at}, ${key}) < (${cursor.createdAt}::timestamptz, ${cursor.id}::text)` : sql``;
  return sql`(select ${key} as key, ${at} as at, ${type}::text as type, ${sql.join(others)}
    ${rows} ${after} order by ${at} desc, key desc limit ${sql.lit(limit)})`;
};

/** One page of a timeline, newest first. */
export async function timelinePage(
  { db }: Reads,
  sources: readonly TimelineSource[],
  { cursor, limit }: { cursor: PlaceCursor | undefined; limit: number },
): Promise<{ items: TimelineItem[]; next: PlaceCursor | undefined }> {
  const parts = sources.map((source) => selectFrom(source, cursor, limit + 1));
  const { rows } = await sql<TimelineItem>`
    select * from (${sql.join(parts, sql` union all `)}) as found
    order by at desc, key desc limit ${sql.lit(limit + 1)}`.execute(db);
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next: last && { createdAt: last.at, id: last.key } };
}

/** The columns of a deployment `d` in the environment `e`. */
const DEPLOYMENT = {
  environmentId: sql`d.environment_id`,
  environmentName: sql`e.name`,
  domain: sql`d.domain`,
  releaseName: sql`d.release_name`,
  executionId: sql`d.execution_id`,
};

/** Deployments and rollbacks. @param isWanted which deployments `d`. */
export function deploymentSources(isWanted: RawBuilder<unknown>): TimelineSource[] {
  const from = sql`from release_deployment d join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id`;
  return [
    {
      type: 'deployment',
      id: sql`d.id`,
      at: sql`d.deployed_at`,
      columns: { ...DEPLOYMENT, by: sql`d.reported_by ->> 'email'`, status: sql`d.status` },
      rows: sql`${from} where ${isWanted}`,
    },
    {
      type: 'rolled_back',
      id: sql`d.id`,
      at: sql`d.rolled_back_at`,
      columns: { ...DEPLOYMENT, by: sql`d.rolled_back_by` },
      rows: sql`${from} where ${isWanted} and d.rolled_back_at is not null`,
    },
  ];
}

/** Holds of candidates and their ends. @param isWanted which events `n` of candidates. */
export function holdSources(isWanted: RawBuilder<unknown>): TimelineSource[] {
  const source = (type: 'held' | 'hold_lifted', more: Columns): TimelineSource => ({
    type,
    id: sql`n.id`,
    at: sql`n.at`,
    columns: {
      environmentId: sql`n.environment_id`,
      environmentName: sql`e.name`,
      domain: sql`c.domain`,
      releaseName: sql`c.release_name`,
      by: sql`n.by`,
      detail: sql`n.reason`,
      until: sql`n.until`,
      ...more,
    },
    rows: sql`from release_candidate_event n
      join release_candidate c on c.tenant_id = n.tenant_id and c.id = n.candidate_id
      left join environment e on e.tenant_id = n.tenant_id and e.id = n.environment_id
      where ${isWanted} and n.type = ${sql.lit(type)}`,
  });
  return [source('held', {}), source('hold_lifted', { status: sql`n.after` })];
}

/** The environment `e` of a run `r`. */
export const RUN_ENVIRONMENT = sql`left join environment e on e.tenant_id = r.tenant_id and e.id = r.environment_id`;

/** The columns of a run `r` in the environment `e`. */
const RUN = {
  environmentId: sql`r.environment_id`,
  environmentName: sql`e.name`,
  domain: sql`r.domain`,
  releaseName: sql`r.release_name`,
  executionId: sql`r.id`,
  taskType: sql`r.task_type`,
};

/** Runs as they were requested and ended, and overrides of them. @param rows of runs `r` and environments `e`. */
export function runSources(rows: RawBuilder<unknown>): TimelineSource[] {
  return [
    {
      type: 'run_requested',
      id: sql`r.id`,
      at: sql`r.created_at`,
      columns: { ...RUN, by: sql`r.triggered_by` },
      rows,
    },
    {
      type: 'run_ended',
      id: sql`r.id`,
      at: sql`r.ended_at`,
      columns: { ...RUN, by: sql`r.triggered_by`, status: sql`r.status`, detail: sql`r.error` },
      rows: sql`${rows} and r.ended_at is not null`,
    },
    {
      type: 'overridden',
      id: sql`r.id`,
      at: sql`(r.override ->> 'at')::timestamptz(3)`,
      columns: { ...RUN, by: sql`r.override ->> 'by'`, detail: sql`r.override ->> 'reason'` },
      rows: sql`${rows} and r.override is not null`,
    },
  ];
}

/** The steps of approvals of runs. @param rows of runs `r` and environments `e`. */
export const approvalSource = (rows: RawBuilder<unknown>): TimelineSource => ({
  type: 'approval',
  id: sql`v.id`,
  at: sql`v.occurred_at`,
  columns: {
    environmentId: sql`v.environment_id`,
    environmentName: sql`v.environment_name`,
    domain: sql`v.domain`,
    releaseName: sql`v.release_name`,
    executionId: sql`v.run_id`,
    taskType: sql`v.task_type`,
    approvalId: sql`v.approval_id`,
    by: sql`coalesce(v.resolved_by, v.requested_by)`,
    status: sql`case when v.vote is not null and v.status = 'requested' then 'voted' else v.status end`,
    detail: sql`v.comment`,
  },
  rows: sql`from (
    select v.*, a.environment_id from (select r.id, r.tenant_id ${rows}) as r
    join approval a on a.tenant_id = r.tenant_id and a.run_id = r.id
    join approval_event v on v.tenant_id = a.tenant_id and v.approval_id = a.id) as v where true`,
});
