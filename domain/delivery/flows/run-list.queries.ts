import { type Expression, type ExpressionBuilder, sql, type SqlBool } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import type { FlowCategory } from './flow-categories.ts';
import type { ExecutionMode } from './flows.entities.ts';
import { type DisplayStatus, displayOf, NEW_RUN, RUN_STATUSES, type RunStatus } from './run-status-rules.ts';
import { COLUMNS, type runDetail } from './run-detail.queries.ts';

export interface RunFilter {
  projectId?: string | undefined;
  executionMode?: ExecutionMode | undefined;
  categories?: readonly FlowCategory[] | undefined;
  taskTypes?: readonly string[] | undefined;
  statuses?: readonly RunStatus[] | undefined;
  /** A part of the path, in any case. */
  flowPath?: string | undefined;
  workItemKeys?: readonly string[] | undefined;
  workItemType?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  triggeredBy?: readonly string[] | undefined;
  /** Name of the environment. */
  environment?: string | undefined;
  domain?: string | undefined;
  releaseName?: string | undefined;
  /** Id of the run whose child it is. */
  parentId?: string | undefined;
  includeScheduled: boolean;
  includeInternal: boolean;
}

/** Up to here runs are counted one by one when counts are not kept by a filter. */
export const COUNTED_MAX = 20_000;

/** Conditions on columns that runs and their counts have in common. */
function tallied(
  eb: ExpressionBuilder<Tables, 'flow_run_tally'>,
  tenantId: string,
  filter: RunFilter,
): Expression<SqlBool> {
  const { statuses } = filter;
  const conditions = [eb('tenantId', '=', tenantId)];
  if (filter.projectId !== undefined) conditions.push(eb('projectId', '=', filter.projectId));
  if (filter.executionMode !== undefined) conditions.push(eb('executionMode', '=', filter.executionMode));
  if (filter.categories) conditions.push(isOneOf(eb, 'category', filter.categories));
  if (filter.taskTypes) conditions.push(isOneOf(eb, 'taskType', filter.taskTypes));
  if (statuses) {
    const shown = [...new Set(statuses.map(displayOf))];
    conditions.push(isOneOf(eb, 'displayStatus', shown));
    const isWhole = RUN_STATUSES.every((status) => statuses.includes(status) || !shown.includes(displayOf(status)));
    if (!isWhole) conditions.push(isOneOf(eb, 'status', statuses));
  }
  if (filter.workItemType !== undefined) conditions.push(eb('workItemType', '=', filter.workItemType));
  if (filter.flowPath !== undefined) {
    const matching = eb
      .selectFrom('flow_run_tally')
      .select('flowPath')
      .distinct()
      .where('tenantId', '=', tenantId)
      .where(sql`strpos(lower(flow_path), lower(${filter.flowPath}))`, '>', 0);
    conditions.push(eb('flowPath', '=', sql<string>`any (array(${matching}))`));
  }
  if (!filter.includeScheduled) conditions.push(eb.not('isScheduled'));
  if (!filter.includeInternal) conditions.push(eb.not('isInternal'));
  return eb.and(conditions);
}

const hasUntallied = (filter: RunFilter): boolean => {
  const { workItemKeys, since, until, triggeredBy, environment, domain, releaseName, parentId } = filter;
  return [workItemKeys, since, until, triggeredBy, environment, domain, releaseName, parentId].some(
    (given) => given !== undefined,
  );
};

/** All conditions, on runs themselves. */
const onRuns =
  (tenantId: string, filter: RunFilter) =>
  (eb: ExpressionBuilder<Tables, 'flow_run'>): Expression<SqlBool> => {
    const { workItemKeys, since, until, triggeredBy, environment, domain, releaseName, parentId } = filter;
    const conditions = [tallied(eb as unknown as ExpressionBuilder<Tables, 'flow_run_tally'>, tenantId, filter)];
    if (workItemKeys) conditions.push(isOneOf(eb, 'workItemKey', workItemKeys));
    if (triggeredBy) conditions.push(isOneOf(eb, 'triggeredBy', triggeredBy));
    if (since) conditions.push(eb('createdAt', '>=', since.toISOString()));
    if (until) conditions.push(eb('createdAt', '<', until.toISOString()));
    if (domain !== undefined) conditions.push(eb('domain', '=', domain));
    if (releaseName !== undefined) conditions.push(eb('releaseName', '=', releaseName));
    if (parentId !== undefined) conditions.push(eb('parentId', '=', parentId));
    if (environment !== undefined) {
      const named = eb
        .selectFrom('environment')
        .where('tenantId', '=', tenantId)
        .where('name', '=', environment)
        .select('id');
      conditions.push(eb('environmentId', '=', sql<string>`any (array(${named}))`));
    }
    return eb.and(conditions);
  };

/** The rows of a page, each with the total; one without a run when the page is empty. */
const pageOf = ({ db, tenantId }: Reads, filter: RunFilter, { limit, offset }: { limit: number; offset: number }) =>
  db
    .with(
      (cte) => cte('counted').materialized(),
      (inner) => {
        if (!hasUntallied(filter))
          return inner
            .selectFrom('flow_run_tally')
            .where((eb) => tallied(eb, tenantId, filter))
            .select(sql<string>`coalesce(sum(runs), 0)`.as('total'));
        const matching = inner
          .selectFrom('flow_run')
          .where(onRuns(tenantId, filter))
          .limit(sql.lit(COUNTED_MAX + 1))
          .select(sql.lit(1).as('one'));
        return inner.selectFrom(matching.as('matching')).select(({ fn }) => fn.countAll<string>().as('total'));
      },
    )
    .with(
      (cte) => cte('page').materialized(),
      (inner) =>
        inner
          .selectFrom('flow_run')
          .where(onRuns(tenantId, filter))
          .where(
            (eb) => eb.selectFrom('counted').select('total'),
            '>',
            sql<string>`${Math.min(offset, COUNTED_MAX)}::bigint`,
          )
          .orderBy('createdAt', 'desc')
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(offset)
          .select(['id', 'createdAt']),
    )
    .selectFrom('counted')
    .leftJoin('page', (join) => join.onTrue())
    .leftJoin('flow_run as r', (join) => join.on('r.tenantId', '=', tenantId).onRef('r.id', '=', 'page.id'))
    .leftJoin('project', (join) =>
      join.onRef('project.tenantId', '=', 'r.tenantId').onRef('project.id', '=', 'r.projectId'),
    )
    .leftJoin('environment', (join) =>
      join.onRef('environment.tenantId', '=', 'r.tenantId').onRef('environment.id', '=', 'r.environmentId'),
    )
    .orderBy('page.createdAt', 'desc')
    .orderBy('page.id', 'desc')
    .select([...COLUMNS, 'counted.total']);

/**
 * One page of runs, newest first, with how many there are, as one statement sees both. The page's ids come from an
 * index, and are not searched for where the total says that there are none; the total comes from counts that triggers
 * keep, and is exact. With a filter by time, trigger or work item key runs are counted one by one, up to `COUNTED_MAX`;
 * beyond that `isExact` is false.
 */
export async function listRuns(reads: Reads, filter: RunFilter, page: { limit: number; offset: number }) {
  const rows = await pageOf(reads, filter, page).execute();
  const total = Number(rows[0]?.total ?? 0);
  const isExact = !hasUntallied(filter) || total <= COUNTED_MAX;
  const runs = rows.filter((row): row is RunRow & { total: string } => row.id !== null);
  return { runs, total: isExact ? total : COUNTED_MAX, isExact };
}

/** How many runs match by the status that is shown, whatever their status; up to `COUNTED_MAX` as `listRuns` counts. */
export async function countRuns(
  { db, tenantId }: Reads,
  { statuses: _, ...filter }: RunFilter,
): Promise<Partial<Record<DisplayStatus, number>>> {
  const tallies = db
    .selectFrom('flow_run_tally')
    .where((eb) => tallied(eb, tenantId, filter))
    .groupBy('displayStatus')
    .select(['displayStatus', sql<number>`sum(runs)::int`.as('runs')]);
  const matching = db
    .selectFrom('flow_run')
    .where(onRuns(tenantId, filter))
    .limit(sql.lit(COUNTED_MAX))
    .select('displayStatus');
  const rows = await (hasUntallied(filter)
    ? db
        .selectFrom(matching.as('matching'))
        .groupBy('displayStatus')
        .select(['displayStatus', sql<number>`count(*)::int`.as('runs')])
    : tallies
  ).execute();
  const some = rows.filter(({ runs }) => runs > 0);
  return Object.fromEntries(some.map(({ displayStatus, runs }) => [displayStatus, runs]));
}

/** A run as lists show it. */
export type RunRow = Omit<
  Awaited<ReturnType<typeof runDetail>>,
  | 'hasWorkflow'
  | 'moves'
  | 'approvalId'
  | 'tickets'
  | 'payload'
  | 'result'
  | 'outputTail'
  | 'outputSoFar'
  | 'outputBytes'
  | 'progress'
  | 'cancelRequestedAt'
  | 'schedulePath'
  | 'children'
  | 'locks'
  | 'policyViolations'
>;

/** Counts of the open runs of a tenant; those not launched have not begun within 30 s of being accepted. */
export const runsHealth = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('displayStatus', '=', 'Waiting')
    .where('status', '=', NEW_RUN)
    .where('hasWorkflow', '=', true)
    .where('createdAt', '<', sql<string>`now() - interval '30 seconds'`)
    .select((eb) => {
      const open = (status: 'Waiting' | 'Running') =>
        eb
          .selectFrom('flow_run_tally')
          .where('tenantId', '=', tenantId)
          .where('displayStatus', '=', status)
          .select(sql<number>`coalesce(sum(runs), 0)::int`.as('count'));
      return [
        eb.fn.coalesce(open('Waiting'), sql.lit(0)).as('waiting'),
        eb.fn.coalesce(open('Running'), sql.lit(0)).as('running'),
        sql<number>`count(*)::int`.as('notLaunched'),
        eb.fn.min('createdAt').as('oldestNotLaunchedAt'),
      ];
    })
    .executeTakeFirstOrThrow();
