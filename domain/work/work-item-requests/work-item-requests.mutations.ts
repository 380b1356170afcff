import { projectById, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { locationOfItems } from '../work-items/work-items.queries.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type CallbackEvent, type NotedEvent, stateOf, withEvent } from './callback-rules.ts';
import { keepItemStateTime, knownItemState, requestsOfItem } from './requests-of-items.queries.ts';
import { itemKeyOf } from './item-reference-rules.ts';
import {
  findRequest,
  insertRequest,
  keepExecution,
  type ItemKey,
  type LockedRequest,
  lockItem,
  type RequestChange,
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
 * in the future, and for a work item that the project cannot have.
 */
export async function takeCallback(tx: Tx, project: Project, callback: Callback): Promise<void> {
  const { platform, taskType, occurredAt } = callback;
  if (occurredAt && occurredAt.getTime() - tx.now.getTime() > AHEAD_MAX_MS)
    throw invalidField('occurredAt', 'is more than ten minutes ahead');
  const location = callback.workItemKey.includes('#') ? await locationOfItems(tx, platform, project) : undefined;
  const workItemKey = itemKeyOf(platform, callback.workItemKey, location);
  if (workItemKey === undefined)
    throw invalidField('workItemKey', `${callback.workItemKey} is no work item of ${project.identifier}`);
  const item = { projectId: project.id, platform, workItemKey };
  await lockItem(tx, item);
  const { requestId, executionId } = callback;
  const found = await findRequest(tx, { ...item, requestId, executionId, taskType });
  const request = found ?? (await backfilled(tx, project, item));
  const owner = request.projectId === project.id ? project : await projectById(tx, request.projectId);
  if (!owner) return;
  // A work item of another platform or project is none of this request's.
  const isOfItem = request.platform === platform && owner.id === project.id;
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
    workItemKey: request.workItemKey ?? (isOfItem ? workItemKey : null),
    workItemUrl: request.workItemUrl ?? (isOfItem ? (callback.workItemUrl ?? null) : null),
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
  announceChange(tx, owner, { before: found, after: { ...request, ...change } }, { reason: error ?? message });
  auditChange(tx, owner, { ...request, ...change }, `reported ${event.event}`, {
    ...(found && { before: { status: request.status } }),
    after: { event: event.event, executionId: event.executionId, status: change.status ?? request.status, error },
  });
}

const isUnchanged = (request: LockedRequest, change: RequestChange): boolean =>
  Object.entries(change).every(([name, value]) => request[name as keyof LockedRequest] === value);

/** A request of a work item that may have others already, which know whether it was closed. */
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

const secondOf = (time: Date): number => Math.floor(time.getTime() / 1_000);
const tallied = ({ repositoryIdentifier, taskType }: LockedRequest): string =>
  `${repositoryIdentifier}\n${taskType ?? ''}`;
const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

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
  const requests = await requestsOfItem(tx, item);
  // All store in the order of the tally, so that changes of several work items cannot deadlock.
  for (const request of requests.toSorted((a, b) => compareTexts(tallied(a), tallied(b)))) {
    // Hosts report the time in whole seconds: of the same one, what comes later counts.
    if (request.itemStateAt !== null && secondOf(new Date(request.itemStateAt)) > secondOf(at)) continue;
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
