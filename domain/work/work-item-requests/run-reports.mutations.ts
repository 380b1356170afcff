import type { ReachedRun, ReachedStatus } from '../../delivery/flows/runs.hooks.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { locationOfItems } from '../work-items/work-items.queries.ts';
import { withEvent } from './callback-rules.ts';
import { keyOfRef, platformOfRef } from './item-reference-rules.ts';
import { CLOSE_AFTER_MS, eventOfRun, isShownOnItem } from './report-rules.ts';
import { afterEvents, announceChange, auditChange } from './work-item-requests.mutations.ts';
import { findRequest, keepExecution, storeRequest } from './work-item-requests.queries.ts';

/**
 * Takes the new status of a run to the request that it executes: that of its id, which may be of another project, else
 * the newest of the work item that it names in its own project and of its type. What the work item is to show of it is written after the commit.
 */
export async function reportRunToRequest(tx: Tx, run: ReachedRun, reached: ReachedStatus): Promise<void> {
  const { id: executionId, parentId, projectId, repositoryIdentifier, taskType } = run;
  const { workItemRef } = run.payload;
  const event = eventOfRun(reached.status);
  const platform = workItemRef && platformOfRef(workItemRef);
  if (!workItemRef || !platform || parentId !== null || projectId === null || repositoryIdentifier === null) return;
  const location = await locationOfItems(tx, platform, { id: projectId, identifier: repositoryIdentifier });
  const workItemKey = keyOfRef(workItemRef, location);
  const request = await findRequest(tx, { projectId, platform, workItemKey, executionId, taskType });
  const project = request && (await projectById(tx, request.projectId));
  if (!project) return;
  const { status, error = null, isRevision = false } = reached;
  const noted = {
    event,
    executionId,
    occurredAt: new Date(reached.at).toISOString(),
    receivedAt: tx.now.toISOString(),
    message: null,
    error,
  };
  const history = withEvent(request.history, noted, { isRevision });
  const after = { ...request, ...(history && afterEvents(request, history)) };
  if (after.executionId === executionId && isShownOnItem(status)) {
    after.report = { runId: executionId, taskType, status, error, url: run.cicdRunUrl };
    after.reportRevision = request.reportRevision + 1;
    const closesItem =
      event === 'completed' &&
      after.status === 'completed' &&
      (project.configuration.workItems?.closeOnCompletion ?? true);
    after.closeDueAt = closesItem ? new Date(tx.now.getTime() + CLOSE_AFTER_MS).toISOString() : null;
    tx.after('workItemReport', {
      requestId: request.id,
      repositoryIdentifier: request.repositoryIdentifier,
    });
  }
  await storeRequest(tx, request, after);
  await keepExecution(tx, request, executionId);
  if (!history) return;
  announceChange(tx, project, { before: request, after }, { reason: error });
  auditChange(tx, project, after, `reported ${event}`, {
    before: { status: request.status },
    after: { event, executionId, status: after.status, error },
  });
}
