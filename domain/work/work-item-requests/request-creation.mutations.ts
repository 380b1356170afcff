import { projectById } from '../../projects/projects/projects.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { CreatedWorkItem, TrackerPlatform } from '../work-items/work-tracker.port.ts';
import { withEvent } from './callback-rules.ts';
import { requestsOfItem } from './requests-of-items.queries.ts';
import { itemKeyOf } from './item-reference-rules.ts';
import {
  afterEvents,
  announceChange,
  auditChange,
  newRequest,
  type NewRequest,
  type Project,
} from './work-item-requests.mutations.ts';
import {
  insertRequest,
  keepExecution,
  type LockedRequest,
  lockedRequest,
  lockItem,
  removeRequests,
  storeRequest,
} from './work-item-requests.queries.ts';

const UNCONFIRMED = 'The tracker did not confirm the work item; it may have been created nevertheless';

/** Adds a request whose work item is about to be created, so that it is known whatever becomes of that. */
export async function beginCreation(tx: Tx, project: Project, request: NewRequest): Promise<string> {
  const begun = newRequest({ ...request, status: 'creating' });
  await insertRequest(tx, begun);
  auditChange(tx, project, begun, 'began', { after: { status: begun.status } });
  return begun.id;
}

/** A work item that a tracker has created. */
export interface CreatedItem extends Pick<CreatedWorkItem, 'key' | 'url'> {
  platform: TrackerPlatform;
}

/**
 * Takes what the tracker has created. Callbacks may have come before, and then count: one that did not name the request
 * has made another one known, which is merged into this one.
 * @param message for whoever reads the request.
 */
export async function completeCreation(
  tx: Tx,
  project: Project,
  id: string,
  { platform, key, url }: CreatedItem,
  { message = null }: { message?: string | null } = {},
): Promise<void> {
  const item = { projectId: project.id, platform, workItemKey: itemKeyOf(platform, key, undefined) ?? key };
  await lockItem(tx, item);
  const before = await lockedRequest(tx, id);
  if (!before) return;
  const early = (await requestsOfItem(tx, item)).filter((each) => isMadeKnownBefore(each, before));
  const history = early
    .flatMap((each) => each.history)
    .reduce((known, event) => withEvent(known, event) ?? known, before.history);
  const isItemClosed = before.isItemClosed || early.some((each) => each.isItemClosed);
  const itemStateAt = early.find((each) => each.itemStateAt !== null)?.itemStateAt ?? before.itemStateAt;
  const known = { ...before, workItemKey: item.workItemKey, workItemUrl: url, isItemClosed, itemStateAt };
  const after: LockedRequest =
    history.length === 0
      ? { ...known, status: 'open', message, error: null }
      : { ...known, ...afterEvents(known, history) };
  await removeRequests(tx, early);
  await storeRequest(tx, before, after);
  for (const executionId of new Set(history.flatMap((event) => event.executionId ?? [])))
    await keepExecution(tx, before, executionId);
  announceChange(tx, project, { before, after }, {});
  auditChange(tx, project, after, 'opened', {
    before: { status: before.status },
    after: {
      status: after.status,
      workItemKey: after.workItemKey,
      workItemUrl: url,
      ...(early.length > 0 && { mergedRequests: early.map((each) => each.id) }),
    },
  });
}

/** Whether a callback made a request known while another was created, of the same item: ids are in order of time. */
const isMadeKnownBefore = (each: LockedRequest, created: LockedRequest): boolean =>
  each.id > created.id && each.title === null && (each.taskType ?? created.taskType) === created.taskType;

/** Notes which run executes a request, and is heard of later. @param projectId of the run. */
export const linkRun = (tx: Tx, id: string, run: { runId: string; projectId: string }): Promise<void> =>
  keepExecution(tx, { id, projectId: run.projectId }, run.runId);

/** Ends a request whose work item was not created; nothing once a callback has adopted it. */
export async function failCreation(tx: Tx, project: Project, id: string, error: string): Promise<void> {
  const before = await lockedRequest(tx, id);
  if (before?.status !== 'creating') return;
  const after: LockedRequest = { ...before, status: 'failed', error };
  await storeRequest(tx, before, after);
  announceChange(tx, project, { before, after }, { reason: error });
  auditChange(tx, project, after, 'failed', { before: { status: before.status }, after: { status: 'failed', error } });
}

/** Ends a request whose tracker was asked for a work item, and of which nothing was heard for long. */
export async function giveUpCreation(tx: Tx, id: string): Promise<void> {
  const request = await lockedRequest(tx, id);
  const project = request && (await projectById(tx, request.projectId));
  if (project) await failCreation(tx, project, id, UNCONFIRMED);
}
