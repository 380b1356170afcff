import { type Expression, type ExpressionBuilder, sql, type SqlBool } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { ActorReads, Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tables } from '../../kernel/data/tables.ts';
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

const TOTAL = sql<string>`coalesce(sum(requests), 0)`.as('total');

/** The sum of counts by creator or month, which know projects and statuses. */
const sumOfCounts = (
  { db, tenantId }: Reads,
  { projectId, statuses }: RequestFilter,
  { kind, is, value }: { kind: 'creator' | 'month'; is: '=' | '>'; value: string },
) =>
  db
    .selectFrom('work_item_request_count')
    .where('tenantId', '=', tenantId)
    .where('kind', '=', kind)
    .where('value', is, value)
    .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
    .$if(statuses !== undefined, (query) => query.where((eb) => isOneOf(eb, 'status', statuses ?? [])))
    .select(TOTAL);

const countRows = ({ db, tenantId }: Reads, filter: RequestFilter) =>
  db
    .selectFrom('work_item_request')
    .where((eb) => eb.and([...onRows(eb, tenantId, filter), ...byStatus(eb, filter)]))
    .select(sql<string>`count(*)`.as('total'));

/** Counts requests since a time: the rows of its month, and the counts of the months after it. */
function countByMonths(reads: Reads, filter: RequestFilter, since: Date) {
  const nextMonth = new Date(Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 1));
  const later = sumOfCounts(reads, filter, { kind: 'month', is: '>', value: since.toISOString().slice(0, 7) });
  const ofMonth = countRows(reads, filter)
    .where('createdAt', '>=', since.toISOString())
    .where('createdAt', '<', nextMonth.toISOString());
  return reads.db.selectNoFrom(sql<string>`(${later}) + (${ofMonth})`.as('total'));
}

/** Counts requests since a time by the smaller part, which may be the one before it. */
function countSmallerPart(reads: Reads, filter: RequestFilter, since: Date) {
  const oldest = reads.db
    .selectFrom('work_item_request')
    .where('tenantId', '=', reads.tenantId)
    .orderBy('createdAt')
    .limit(sql.lit(1))
    .select('createdAt');
  const at = since.toISOString();
  const [after, before] = [
    countRows(reads, filter).where('createdAt', '>=', at),
    countRows(reads, filter).where('createdAt', '<', at),
  ];
  return reads.db.selectNoFrom(
    sql<string>`case when ${at}::timestamptz > now() - (now() - (${oldest})) / 2
      then (${after}) else (${sumOfTallies(reads, filter)}) - (${before}) end`.as('total'),
  );
}

const sumOfTallies = ({ db, tenantId }: Reads, filter: RequestFilter) =>
  db
    .selectFrom('work_item_request_tally')
    .where((eb) => {
      const alike = eb as unknown as Builder;
      return eb.and([...tallied(alike, tenantId, filter), ...byStatus(alike, filter)]);
    })
    .select(TOTAL);

/** How many requests there are by a filter. Counts that triggers keep answer what they can. */
async function countRequests(reads: Reads, filter: RequestFilter): Promise<number> {
  const { since, createdBy, releaseCandidate, platform, taskType, repositoryIdentifier } = filter;
  const isTallied = createdBy === undefined && releaseCandidate === undefined;
  const isOfCounts = [releaseCandidate, platform, taskType, repositoryIdentifier].every((each) => each === undefined);
  const choose = () => {
    if (since === undefined && isTallied) return sumOfTallies(reads, filter);
    if (since === undefined)
      return isOfCounts && createdBy !== undefined
        ? sumOfCounts(reads, filter, { kind: 'creator', is: '=', value: createdBy })
        : countRows(reads, filter);
    if (!isTallied) return countRows(reads, filter).where('createdAt', '>=', since.toISOString());
    return isOfCounts ? countByMonths(reads, filter, since) : countSmallerPart(reads, filter, since);
  };
  return Number((await choose().executeTakeFirst())?.total ?? 0);
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
