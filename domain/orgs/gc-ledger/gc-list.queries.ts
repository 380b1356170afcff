import { expressionBuilder, type Expression, sql, type SqlBool } from 'kysely';
import type { ActorReads, Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import type { GcCause } from './gc-ledger.entities.ts';
import { type GcStatus, HISTORY_SHOWN, type Presence } from './gc-ledger-rules.ts';

export interface GcFilter {
  branch?: string | undefined;
  statuses?: readonly GcStatus[] | undefined;
  packageName?: string | undefined;
}

interface HistoryStep {
  at: string;
  from: GcStatus | null;
  to: GcStatus;
  cause: GcCause;
  movedTo: string | null;
  environment: string | null;
  reason: string | null;
  by: string;
}

interface PresenceShown {
  environment: string;
  presence: Presence;
  checkedAt: string;
}

/** Condition that a filter sets on entries, for their list and their counts. */
function conditionOf({ tenantId }: Reads, projectId: string, { branch, packageName }: GcFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'gc_entry'>();
  const conditions: Expression<SqlBool>[] = [eb('tenantId', '=', tenantId), eb('projectId', '=', projectId)];
  if (branch !== undefined) conditions.push(eb('branch', '=', branch));
  if (packageName !== undefined) conditions.push(eb('packageName', '=', packageName));
  return eb.and(conditions);
}

/**
 * A page of a repository's entries by branch, package, type and name, with the last steps of their history, the newest
 * last. The total is exact and comes from counts that triggers keep.
 */
export async function listGcEntries(
  reads: ActorReads,
  projectId: string,
  filter: GcFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  // What a client composes is planned for its values; what is read of the entries of a page has a plan that is kept.
  const { db } = reads.with({ isPlannedAnew: true });
  const { statuses } = filter;
  const matching = db
    .selectFrom('gc_entry as m')
    .where(conditionOf(reads, projectId, filter))
    .orderBy('m.branch')
    .orderBy('m.packageName')
    .orderBy('m.componentType')
    .orderBy('m.fullName');
  // Each status by itself is in order in an index, of which the beginning is enough.
  const page = statuses
    ? db
        .selectFrom(sql<{ status: GcStatus }>`unnest(${statuses}::text[])`.as<'w'>(sql`w (status)`))
        .innerJoinLateral(
          matching
            .where('m.status', '=', sql<GcStatus>`w.status`)
            .limit(sql.lit(limit + offset))
            .select([
              'm.id',
              'm.branch',
              'm.packageName as package_name',
              'm.componentType as component_type',
              'm.fullName as full_name',
            ])
            .as('p'),
          (join) => join.onTrue(),
        )
        .orderBy('p.branch')
        .orderBy('p.package_name')
        .orderBy('p.component_type')
        .orderBy('p.full_name')
        .limit(sql.lit(limit))
        .offset(offset)
        .select('p.id')
    : matching.limit(sql.lit(limit)).offset(offset).select('m.id');
  const [found, counted] = await Promise.all([
    page.execute(),
    db
      .selectFrom('gc_tally')
      .where(conditionOf(reads, projectId, filter))
      .$if(statuses !== undefined, (query) => query.where('status', '=', sql<GcStatus>`any (${statuses}::text[])`))
      .select((eb) => sql<number>`coalesce(${eb.fn.sum('entries')}, 0)::int`.as('total'))
      .executeTakeFirst(),
  ]);
  const ids = found.map(({ id }) => id);
  return { items: await ENTRIES(reads.db, { tenantId: reads.tenantId, ids }), total: counted?.total ?? 0 };
}

const ENTRIES = statement<{ tenantId: string; ids: string[] }>()((db, { tenantId, ids }) =>
  db
    .selectFrom('gc_entry as e')
    // Limited tokens do not see the projects that they do not reach.
    .leftJoin('project as o', (join) =>
      join.onRef('o.tenantId', '=', 'e.tenantId').onRef('o.id', '=', 'e.ownerProjectId'),
    )
    .where('e.tenantId', '=', tenantId)
    .where('e.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('e.branch')
    .orderBy('e.packageName')
    .orderBy('e.componentType')
    .orderBy('e.fullName')
    .select([
      'e.branch',
      'e.packageName',
      'e.componentType',
      'e.fullName',
      'e.status',
      'e.movedTo',
      'o.identifier as ownedBy',
      'e.detectedAt',
      'e.lastEventAt',
      'e.createdAt',
      'e.updatedAt',
      sql<HistoryStep[]>`(
        select coalesce(json_agg(json_build_object('at', h.occurred_at, 'from', h.from_status, 'to', h.to_status, 'cause', h.cause,
          'movedTo', h.moved_to, 'environment', h.environment, 'reason', h.reason, 'by', h.changed_by) order by h.number), '[]')
        from (select * from gc_event v where v.tenant_id = e.tenant_id and v.entry_id = e.id
          order by v.number desc limit ${sql.lit(HISTORY_SHOWN)}) h)`.as('history'),
      sql<PresenceShown[]>`(
        select coalesce(json_agg(json_build_object('environment', n.name, 'presence', p.presence, 'checkedAt', p.checked_at)
          order by n.orchestration_order, n.name), '[]')
        from gc_presence p
        join environment n on n.tenant_id = p.tenant_id and n.id = p.environment_id and lower(n.org_username) = p.org_username
        where p.tenant_id = e.tenant_id and p.entry_id = e.id)`.as('presence'),
    ]),
);
