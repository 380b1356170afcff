import { type Expression, type ExpressionBuilder, sql, type SqlBool } from 'kysely';
import { isOneOf } from '../data/conditions.ts';
import type { ActorReads, Reads } from '../data/fenced-reads.ts';
import type { Tables } from '../data/tables.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';
import type { RequestStatus } from './callback-rules.ts';
import { requestsShown, type ShownRequest } from './shown-requests.queries.ts';

export interface RequestFilter {
  projectId?: string | undefined;
  statuses?: readonly RequestStatus[] | undefined;
  platform?: TrackerPlatform | undefined;
  taskType?: string | undefined;
  /** `domain:name`. */
  releaseCandidate?: string | undefined;
  repositoryIdentifier?: string | undefined;
  createdBy?: string | undefined;
  since?: Date | undefined;
}

type Builder = ExpressionBuilder<Tables, 'work_item_request'>;

/** Conditions on columns that requests and their counts have in common, but for the statuses. */
function tallied(eb: Builder, tenantId: string, filter: RequestFilter): Expression<SqlBool>[] {
  const { projectId, platform, taskType, repositoryIdentifier } = filter;
  const conditions: Expression<SqlBool>[] = [eb('tenantId', '=', tenantId)];
  if (projectId !== undefined) conditions.push(eb('projectId', '=', projectId));
  if (platform !== undefined) conditions.push(eb('platform', '=', platform));
  if (taskType !== undefined) conditions.push(eb('taskType', '=', taskType));
  if (repositoryIdentifier !== undefined) conditions.push(eb('repositoryIdentifier', '=', repositoryIdentifier));
  return conditions;
}

/** All conditions but those by status and time. */
function onRows(eb: Builder, tenantId: string, filter: RequestFilter): Expression<SqlBool>[] {
  const conditions = tallied(eb, tenantId, filter);
  if (filter.createdBy !== undefined) conditions.push(eb('createdBy', '=', filter.createdBy));
  if (filter.releaseCandidate !== undefined) conditions.push(eb('releaseCandidate', '=', filter.releaseCandidate));
  return conditions;
}

const byStatus = (eb: Builder, { statuses }: RequestFilter) => (statuses ? [isOneOf(eb, 'status', statuses)] : []);

/**
 * How many requests there are by a filter. Counts that triggers keep answer what they can. Of those since a time the
 * smaller part is counted, which may be the one before it.
 */
async function countRequests({ db, tenantId }: Reads, filter: RequestFilter): Promise<number> {
  const { since, createdBy, releaseCandidate } = filter;
  const counted = (when?: { is: '>=' | '<'; since: Date }) =>
    db
      .selectFrom('work_item_request')
      .where((eb) => eb.and([...onRows(eb, tenantId, filter), ...byStatus(eb, filter)]))
      .$if(when !== undefined, (query) => query.where('createdAt', when?.is ?? '<', when?.since.toISOString() ?? ''))
      .select(sql<string>`count(*)`.as('total'));
  const summed = db
    .selectFrom('work_item_request_tally')
    .where((eb) => {
      const alike = eb as unknown as Builder;
      return eb.and([...tallied(alike, tenantId, filter), ...byStatus(alike, filter)]);
    })
    .select(sql<string>`coalesce(sum(requests), 0)`.as('total'));
  const isTallied = createdBy === undefined && releaseCandidate === undefined;
  let count = isTallied ? summed : counted();
  if (since !== undefined && !isTallied) count = counted({ is: '>=', since });
  if (since === undefined || !isTallied) return Number((await count.executeTakeFirst())?.total ?? 0);
  const oldest = db
    .selectFrom('work_item_request')
    .where('tenantId', '=', tenantId)
    .orderBy('createdAt')
    .limit(sql.lit(1))
    .select('createdAt');
  const total = await db
    .selectNoFrom(
      sql<string>`case when ${since.toISOString()}::timestamptz > now() - (now() - (${oldest})) / 2
        then (${counted({ is: '>=', since })}) else (${summed}) - (${counted({ is: '<', since })}) end`.as('total'),
    )
    .executeTakeFirst();
  return Number(total?.total ?? 0);
}

/** Ids of a page, newest first. */
async function pageOfIds(
  { db, tenantId }: Reads,
  filter: RequestFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<string[]> {
  const { statuses, since } = filter;
  const matching = db
    .selectFrom('work_item_request')
    .where((eb) => eb.and(onRows(eb, tenantId, filter)))
    .$if(since !== undefined, (query) => query.where('createdAt', '>=', since?.toISOString() ?? ''))
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc');
  const [only] = statuses ?? [];
  const page =
    statuses && statuses.length > 1
      ? // Each status by itself is in order in an index, of which the beginning is enough.
        db
          .selectFrom(sql<{ status: RequestStatus }>`unnest(${statuses}::text[])`.as<'w'>(sql`w (status)`))
          .innerJoinLateral(
            matching
              .where('status', '=', sql<RequestStatus>`w.status`)
              .limit(sql.lit(limit + offset))
              .select(['id', 'createdAt as created_at'])
              .as('m'),
            (join) => join.onTrue(),
          )
          .orderBy('m.created_at', 'desc')
          .orderBy('m.id', 'desc')
          .limit(sql.lit(limit))
          .offset(offset)
          .select('m.id')
      : matching
          .$if(only !== undefined, (query) => query.where('status', '=', only ?? 'open'))
          .limit(sql.lit(limit))
          .offset(offset)
          .select('id');
  return (await page.execute()).map(({ id }) => id);
}

/** A page of requests, newest first, and how many there are. */
export async function listRequests(
  reads: ActorReads,
  filter: RequestFilter,
  page: { limit: number; offset: number },
): Promise<{ items: ShownRequest[]; total: number }> {
  // What a client composes is planned for its values.
  const composed = reads.with({ isPlannedAnew: true, pace: 'varies' });
  const total = await countRequests(composed, filter);
  const ids = total > page.offset ? await pageOfIds(composed, filter, page) : [];
  return { items: ids.length > 0 ? await requestsShown(reads, ids) : [], total };
}
