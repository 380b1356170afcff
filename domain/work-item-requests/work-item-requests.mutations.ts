import type { ProjectFacts } from '../projects/projects.queries.ts';
import { invalidField } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { type CallbackEvent, type NotedEvent, normalKey, stateOf, withEvent } from './callback-rules.ts';
import {
  findRequest,
  insertRequest,
  keepItemStateTime,
  keepExecution,
  type ItemKey,
  knownItemState,
  type LockedRequest,
  lockItem,
  type RequestChange,
  requestsOfItem,
  storeRequest,
} from './work-item-requests.queries.ts';

/** What automation reports of a request. */
export interface Callback {
  event: CallbackEvent;
  platform: TrackerPlatform;
  workItemKey: string;
  workItemUrl?: string | undefined;
  taskType?: string | undefined;
  requestId?: string | undefined;
  executionId?: string | undefined;
  /** `domain:name`. */
  releaseCandidate?: string | undefined;
  message?: string | undefined;
  error?: string | undefined;
  result?: Record<string, unknown> | undefined;
  occurredAt?: Date | undefined;
}

/** Clocks of senders may be ahead of ours by so much. */
const AHEAD_MAX_MS = 10 * 60_000;

export type Project = Pick<ProjectFacts, 'id' | 'identifier'>;

/** What a request is made with. */
export type NewRequest = Pick<LockedRequest, 'projectId' | 'platform' | 'repositoryIdentifier' | 'createdBy'> &
  Partial<LockedRequest>;

/** A request of which nothing is known but who made it. */
export const newRequest = (request: NewRequest): LockedRequest => ({
  id: newId(),
  workItemKey: null,
  workItemUrl: null,
  title: null,
  taskType: null,
  releaseCandidate: null,
  status: 'open',
  executionId: null,
  startedAt: null,
  completedAt: null,
  message: null,
  error: null,
  result: null,
  history: [],
  isItemClosed: false,
  itemStateAt: null,
  report: null,
  reportRevision: 0,
  closeDueAt: null,
  ...request,
});

/**
 * Takes what automation reports: the request that it is about changes by what is known of all its executions, so that
 * order and repetition make no difference. A request that nobody knows yet is added. Throws `invalid_request` for a time
 * in the future.
 */
export async function takeCallback(tx: Tx, project: Project, callback: Callback): Promise<void> {
  const { platform, taskType, occurredAt } = callback;
  if (occurredAt && occurredAt.getTime() - tx.now.getTime() > AHEAD_MAX_MS)
    throw invalidField('occurredAt', 'is more than ten minutes ahead');
  const item = { projectId: project.id, platform, workItemKey: normalKey(platform, callback.workItemKey) };
  await lockItem(tx, item);
  const { requestId, executionId } = callback;
  const found = await findRequest(tx, { ...item, requestId, executionId, taskType });
  const request = found ?? (await backfilled(tx, project, item));
  const event: NotedEvent = {
    event: callback.event,
    executionId: executionId ?? null,
    occurredAt: occurredAt?.toISOString() ?? null,
    receivedAt: tx.now.toISOString(),
    message: callback.message ?? null,
    error: callback.error ?? null,
    ...(callback.result && { result: callback.result }),
  };
  const history = withEvent(request.history, event);
  const learned = {
    workItemKey: request.workItemKey ?? item.workItemKey,
    workItemUrl: request.workItemUrl ?? callback.workItemUrl ?? null,
    taskType: request.taskType ?? taskType ?? null,
    releaseCandidate: request.releaseCandidate ?? callback.releaseCandidate ?? null,
  };
  if (!history && isUnchanged(request, learned)) return;
  const change = { ...learned, ...afterEvents(request, history ?? request.history) };
  if (found) await storeRequest(tx, request, change);
  else await insertRequest(tx, { ...request, ...change });
  if (executionId !== undefined && !request.history.some((known) => known.executionId === executionId))
    await keepExecution(tx, request, executionId);
  const { message, error } = event;
  announceChange(tx, project, { before: found, after: { ...request, ...change } }, { reason: error ?? message });
  auditChange(tx, project, { ...request, ...change }, `reported ${event.event}`, {
    ...(found && { before: { status: request.status } }),
    after: { event: event.event, executionId: event.executionId, status: change.status ?? request.status, error },
  });
}

const isUnchanged = (request: LockedRequest, change: RequestChange): boolean =>
  Object.entries(change).every(([name, value]) => request[name as keyof LockedRequest] === value);

/** Someone else's work item may have requests already, which know whether it was closed. */
async function backfilled(tx: Tx, project: Project, item: ItemKey): Promise<LockedRequest> {
  const known = await knownItemState(tx, item);
  return newRequest({
    ...item,
    ...known,
    repositoryIdentifier: project.identifier,
    createdBy: tx.actor.email,
  });
}

/** What a request becomes by all that is known of its executions. */
export function afterEvents(request: LockedRequest, history: NotedEvent[]): RequestChange {
  const state = stateOf(history, { isItemClosed: request.isItemClosed });
  return {
    ...state,
    history,
    ...(state && state.status !== 'completed' && { closeDueAt: null }),
  };
}

/**
 * Takes that a work item was closed or opened again: what is completed is closed with it. Older news than those known
 * change nothing.
 */
export async function noteItemState(
  tx: Tx,
  project: Project,
  { isClosed, at, ...item }: ItemKey & { isClosed: boolean; at: Date },
): Promise<void> {
  await lockItem(tx, item);
  for (const request of await requestsOfItem(tx, item)) {
    // Hosts tell the time in seconds: of the same one, what comes later counts.
    if (request.itemStateAt !== null && Date.parse(request.itemStateAt) > at.getTime()) continue;
    if (request.isItemClosed === isClosed) {
      await keepItemStateTime(tx, request.id, at);
      continue;
    }
    const known = { ...request, isItemClosed: isClosed, itemStateAt: at.toISOString() };
    const change = { ...known, ...afterEvents(known, known.history), ...(isClosed && { closeDueAt: null }) };
    await storeRequest(tx, request, change);
    announceChange(tx, project, { before: request, after: change }, {});
    auditChange(tx, project, request, isClosed ? 'closed its work item' : 'opened its work item again', {
      before: { status: request.status },
      after: { status: change.status },
    });
  }
}

/** Tells subscribers that a request is new or has another status. */
export function announceChange(
  tx: Tx,
  project: Project,
  { before, after }: { before: LockedRequest | undefined; after: LockedRequest },
  { reason = null }: { reason?: string | null },
): void {
  if (before?.status === after.status) return;
  emitEvent(tx, 'work_item_request.updated', {
    id: after.id,
    platform: after.platform,
    project: project.identifier,
    repositoryIdentifier: after.repositoryIdentifier,
    workItemId: after.workItemKey,
    workItemUrl: after.workItemUrl,
    taskType: after.taskType,
    releaseCandidate: after.releaseCandidate,
    executionId: after.executionId,
    status: after.status,
    previousStatus: before?.status ?? null,
    reason,
  });
}

/** Writes to the audit trail what happened to a request. */
export function auditChange(
  tx: Tx,
  project: Project,
  { id, taskType, workItemKey }: LockedRequest,
  what: string,
  change: { before?: object; after: object },
): void {
  tx.audit({
    source: 'integration',
    action: 'work_item_request.updated',
    entityType: 'work_item_request',
    entityId: id,
    repositoryIdentifier: project.identifier,
    summary: `${tx.actor.email} ${what}: request of ${taskType ?? 'automation'} in work item ${workItemKey ?? '(not created)'}`,
    ...change,
  });
}
