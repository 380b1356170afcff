import { sql } from 'kysely';
import { json, type JsonText } from '../../kernel/data/columns.ts';
import { inserting, sentWithNext, statement } from '../../kernel/data/statement.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';
import type { NotedEvent } from './callback-rules.ts';

/** A work item, in the terms of its project. */
export interface ItemKey {
  projectId: string;
  platform: TrackerPlatform;
  workItemKey: string;
}

const LOCK_ITEM = sentWithNext<{ key: string }>()((db, { key }) =>
  db.selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${key}, 5))`.as('locked')),
);

/** From the next statement until this transaction ends nobody else adds a request of the work item. */
export async function lockItem({ db, tenantId }: Tx, { projectId, platform, workItemKey }: ItemKey): Promise<void> {
  await LOCK_ITEM(db, { key: `${tenantId}/${projectId}/${platform}/${workItemKey}` });
}

/** What decisions about a request are made by. */
export const DECIDED_BY = [
  'r.id',
  'r.projectId',
  'r.platform',
  'r.workItemKey',
  'r.workItemUrl',
  'r.title',
  'r.taskType',
  'r.releaseCandidate',
  'r.repositoryIdentifier',
  'r.createdBy',
  'r.status',
  'r.executionId',
  'r.startedAt',
  'r.completedAt',
  'r.message',
  'r.error',
  'r.result',
  'r.history',
  'r.isItemClosed',
  'r.itemStateAt',
  'r.report',
  'r.reportRevision',
  'r.closeDueAt',
] as const;

/** By what a request is looked up; what is undefined does not count. */
export interface RequestLookup extends Omit<ItemKey, 'workItemKey'> {
  workItemKey: string | undefined;
  requestId?: string | undefined;
  executionId?: string | undefined;
  taskType?: string | undefined;
}

const FIND = statement<RequestLookup & { tenantId: string }>()(
  (db, { tenantId, projectId, platform, workItemKey, requestId, executionId, taskType }) =>
    db
      .with(
        (cte) => cte('found').materialized(),
        (inner) => {
          const ofProject = inner
            .selectFrom('work_item_request')
            .where('tenantId', '=', tenantId)
            .where('projectId', '=', projectId);
          const ranked = (rank: number) => ['id', 'createdAt', sql.lit<number>(rank).as('rank')] as const;
          const ofItem = ofProject
            .where('platform', '=', platform)
            .where('workItemKey', '=', sql<string>`${workItemKey ?? null}::text`);
          let candidates = taskType
            ? ofItem
                .where((eb) => eb.or([eb('taskType', '=', taskType), eb('taskType', 'is', null)]))
                .select(['id', 'createdAt', sql<number>`case when task_type is null then 4 else 3 end`.as('rank')])
            : ofItem.select(ranked(4));
          if (executionId)
            candidates = candidates.unionAll(
              inner
                .selectFrom('work_item_request')
                .where('tenantId', '=', tenantId)
                .where('id', 'in', ({ selectFrom }) =>
                  selectFrom('work_item_request_execution as e')
                    .where('e.tenantId', '=', tenantId)
                    .where('e.projectId', '=', projectId)
                    .where('e.executionId', '=', executionId)
                    .select('e.requestId'),
                )
                .select(ranked(2)),
            );
          if (requestId) candidates = candidates.unionAll(ofProject.where('id', '=', requestId).select(ranked(1)));
          return inner
            .selectFrom(candidates.as('candidate'))
            .select('candidate.id')
            .orderBy('candidate.rank')
            .orderBy('candidate.createdAt', 'desc')
            .orderBy('candidate.id', 'desc')
            .limit(sql.lit(1));
        },
      )
      .selectFrom('work_item_request as r')
      .where('r.tenantId', '=', tenantId)
      .where('r.id', '=', ({ selectFrom }) => selectFrom('found').select('found.id'))
      .select(DECIDED_BY)
      .forUpdate('r'),
);

/** A request that nobody else changes before this transaction ends. */
export type LockedRequest = Awaited<ReturnType<typeof FIND>>[number];

/**
 * The request that somebody writes of: that of its id, else that of the execution, else the newest of the work item and
 * task type, or of the work item where they name no type. One without a type passes for one of any.
 */
export async function findRequest({ db, tenantId }: Tx, lookup: RequestLookup): Promise<LockedRequest | undefined> {
  const [request] = await FIND(db, { tenantId, ...lookup });
  return request;
}

const BY_ID = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  db
    .selectFrom('work_item_request as r')
    .where('r.tenantId', '=', tenantId)
    .where('r.id', '=', id)
    .select(DECIDED_BY)
    .forUpdate(),
);

export async function lockedRequest({ db, tenantId }: Tx, id: string): Promise<LockedRequest | undefined> {
  const [request] = await BY_ID(db, { tenantId, id });
  return request;
}

const INSERT = inserting(
  'work_item_request',
  [
    'id',
    'tenantId',
    'projectId',
    'platform',
    'workItemKey',
    'workItemUrl',
    'title',
    'taskType',
    'releaseCandidate',
    'repositoryIdentifier',
    'createdBy',
    'status',
    'executionId',
    'startedAt',
    'completedAt',
    'message',
    'error',
    'result',
    'history',
    'isItemClosed',
    'itemStateAt',
    'reportRevision',
    'reportWrittenRevision',
    'createdAt',
    'updatedAt',
  ],
  (query) => query,
);

export async function insertRequest(
  { db, tenantId, now }: Tx,
  { result, history, ...request }: LockedRequest,
): Promise<void> {
  await INSERT(db, {
    ...request,
    tenantId,
    result: result === null ? null : json(result),
    history: json(history),
    reportWrittenRevision: 0,
    createdAt: now,
    updatedAt: now,
  });
}

const KEEP_EXECUTION = sentWithNext<{ tenantId: string; projectId: string; executionId: string; requestId: string }>()(
  (db, execution) =>
    db
      .insertInto('work_item_request_execution')
      .values(execution)
      .onConflict((conflict) => conflict.doNothing()),
);

/** Notes an execution in a project by which the request is found from now on. */
export async function keepExecution(
  { db, tenantId }: Tx,
  { id: requestId, projectId }: Pick<LockedRequest, 'id' | 'projectId'>,
  executionId: string,
): Promise<void> {
  await KEEP_EXECUTION(db, { tenantId, projectId, executionId, requestId });
}

/** What becomes of a request; who made it, and where, stays. */
type Changeable = Omit<LockedRequest, 'id' | 'projectId' | 'platform' | 'title' | 'repositoryIdentifier' | 'createdBy'>;
export type RequestChange = Partial<Changeable>;

interface StoredState extends Omit<Changeable, 'result' | 'history' | 'report'> {
  tenantId: string;
  id: string;
  result: JsonText<Record<string, unknown>> | null;
  history: JsonText<NotedEvent[]>;
  report: JsonText<NonNullable<LockedRequest['report']>> | null;
  reportChangedAt: Date | null;
  updatedAt: Date;
}

const STORE = statement<StoredState>()((db, { tenantId, id, reportChangedAt, ...state }) =>
  db
    .updateTable('work_item_request')
    .set(({ fn }) => ({ ...state, reportChangedAt: fn.coalesce(reportChangedAt, 'reportChangedAt') }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', id),
);

/** Writes what a decision made of a request. */
export async function storeRequest({ db, tenantId, now }: Tx, before: LockedRequest, change: RequestChange) {
  const { projectId: _, platform: __, title: ___, repositoryIdentifier: ____, createdBy: _____, ...request } = before;
  const { result, history, report, ...state } = { ...request, ...change };
  await STORE(db, {
    ...state,
    tenantId,
    result: result === null ? null : json(result),
    history: json(history),
    report: report === null ? null : json(report),
    reportChangedAt: state.reportRevision === before.reportRevision ? null : now,
    updatedAt: now,
  });
}

/** Removes requests whose history another has. */
export async function removeRequests({ db, tenantId }: Tx, requests: readonly LockedRequest[]): Promise<void> {
  for (const { id } of requests)
    await db.deleteFrom('work_item_request').where('tenantId', '=', tenantId).where('id', '=', id).execute();
}
