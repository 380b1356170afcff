import { projectById } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import type { CreatedWorkItem } from '../work-items/work-tracker.port.ts';
import { itemKeyOf } from './item-reference-rules.ts';
import {
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

/**
 * Takes what the tracker has created. A callback may have come before it, and then counts.
 * @param message for whoever reads the request.
 */
export async function completeCreation(
  tx: Tx,
  project: Project,
  id: string,
  { key, url }: Pick<CreatedWorkItem, 'key' | 'url'>,
  { message = null }: { message?: string | null } = {},
): Promise<void> {
  const before = await lockedRequest(tx, id);
  if (!before) return;
  const after = {
    ...before,
    workItemKey: itemKeyOf(before.platform, key, undefined) ?? key,
    workItemUrl: url,
    ...(before.history.length === 0 && { status: 'open' as const, message, error: null }),
  };
  await storeRequest(tx, before, after);
  announceChange(tx, project, { before, after }, {});
  auditChange(tx, project, after, 'opened', {
    before: { status: before.status },
    after: { status: after.status, workItemKey: after.workItemKey, workItemUrl: url },
  });
}

/** Notes which run carries out a request, and is heard of later. @param projectId of the run. */
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
