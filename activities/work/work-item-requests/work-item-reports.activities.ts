import { ApplicationFailure } from '@temporalio/common';
import { projectById } from '../../../domain/projects/projects/projects.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { isWorkItemId } from '../../../domain/work/work-items/work-item-rules.ts';
import { trackerTarget } from '../../../domain/work/work-items/tracker-location-rules.ts';
import type { TrackerAnswer, TrackerFailure, WorkTracker } from '../../../domain/work/work-items/work-tracker.port.ts';
import {
  commentLines,
  markerOf,
  reportRetryAt,
  stateOnItem,
} from '../../../domain/work/work-item-requests/report-rules.ts';
import {
  type ItemReport,
  noteNotClosed,
  noteReportUnwritten,
  noteReportWritten,
  reportOf,
} from '../../../domain/work/work-item-requests/item-reports.queries.ts';
import { noteItemState } from '../../../domain/work/work-item-requests/work-item-requests.mutations.ts';
import type { WorkItemReportInput } from '../../../workflows/work/work-item-requests/work-item-report.contract.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';

/** While a limit holds no call leaves, and a refused credential is not renewed at once: the sweeper comes back. */
const failed = ({ kind, message }: TrackerFailure): ApplicationFailure =>
  kind === 'limited' || kind === 'auth_failed'
    ? ApplicationFailure.nonRetryable(message)
    : ApplicationFailure.retryable(message);

const sinceOf = ({ completedAt, startedAt }: ItemReport): string | null => completedAt ?? startedAt;

interface Closing {
  /** Milliseconds until the work item is to be closed; null: it is not. */
  closeInMs: number | null;
}

export const createWorkItemReportActivities = (deps: Deps) => {
  const { actingAs, reads, now } = deps;
  const closingOf = ({ closeDueAt }: ItemReport): Closing => ({
    closeInMs: closeDueAt === null ? null : Math.max(0, Date.parse(closeDueAt) - now().getTime()),
  });

  const retryAtOf = (failure: TrackerFailure, found: ItemReport) =>
    reportRetryAt(failure, { now: now(), since: sinceOf(found) });

  return {
    /** Shows in a work item what became of its request. For what can never be written the reason is recorded. */
    writeReport: (input: WorkItemReportInput): Promise<Closing> =>
      withHeartbeat(async () => {
        const { requestId } = input;
        const unit = actingAs(actorOf(input));
        const found = await reportOf(reads.as(actorOf(input)), requestId);
        if (!found?.report) return { closeInMs: null };
        const { report, reportRevision: revision, workItemKey } = found;
        if (found.reportWrittenRevision >= revision) return closingOf(found);
        const answer = await askTracker(deps, input, found, (tracker) =>
          tracker.report(workItemKey, contentOf({ ...found, requestId }, report)),
        );
        if (answer.isOk) {
          const written = { revision, commentId: answer.value.commentId, error: null };
          await unit((tx) => noteReportWritten(tx, requestId, written));
          return closingOf(found);
        }
        const retryAt = retryAtOf(answer, found);
        if (retryAt !== null) {
          const why = { error: answer.message, retryAt };
          await unit((tx) => noteReportUnwritten(tx, requestId, why));
          throw failed(answer);
        }
        await unit((tx) => noteReportWritten(tx, requestId, { revision, error: answer.message }));
        return closingOf(found);
      }),

    /** Closes a work item when that is due; answers when it is otherwise. */
    closeWorkItem: (input: WorkItemReportInput): Promise<Closing> =>
      withHeartbeat(async () => {
        const { requestId } = input;
        const found = await reportOf(reads.as(actorOf(input)), requestId);
        const closing = found ? closingOf(found) : { closeInMs: null };
        if (!found || closing.closeInMs !== 0) return closing;
        const unit = actingAs(actorOf(input));
        const answer = await askTracker(deps, input, found, (tracker) => tracker.close(found.workItemKey, {}));
        if (!answer.isOk) {
          const retryAt = retryAtOf(answer, found);
          await unit((tx) => noteNotClosed(tx, requestId, { error: answer.message, retryAt }));
          if (retryAt !== null) throw failed(answer);
          return { closeInMs: null };
        }
        const { updatedAt } = answer.value;
        await unit((tx) => noteClosed(tx, found, updatedAt === null ? now() : new Date(updatedAt)));
        return { closeInMs: null };
      }),
  };
};
export type WorkItemReportActivities = ReturnType<typeof createWorkItemReportActivities>;

const actorOf = ({ requestId: _, ...tenant }: WorkItemReportInput) => systemActor(tenant, 'work-items');

const contentOf = (
  { commentId, requestId }: ItemReport & { requestId: string },
  report: NonNullable<ItemReport['report']>,
) => ({
  marker: markerOf(requestId),
  lines: commentLines(report),
  links: report.url === null ? [] : [{ text: 'Pipeline', url: report.url }],
  state: stateOnItem(report.status),
  ...(commentId !== null && { commentId }),
});

/** Asks the tracker of a request. Without an integration that is as if its credential were refused. */
async function askTracker<Value>(
  { reads, findWorkTracker }: Deps,
  input: WorkItemReportInput,
  { projectId, platform, workItemKey }: ItemReport,
  call: (tracker: WorkTracker) => Promise<TrackerAnswer<Value>>,
): Promise<TrackerAnswer<Value>> {
  const actor = actorOf(input);
  const project = await projectById(reads.as(actor), projectId);
  const refused = (message: string, kind: 'refused' | 'auth_failed' = 'refused') =>
    ({ isOk: false, kind, message, mayBeDone: false, retryAt: null }) as const;
  if (!project) return refused('The project was removed');
  if (!isWorkItemId(platform, workItemKey)) return refused(`${platform} has no work item ${workItemKey}`);
  try {
    const purpose = `report to the work item of request ${input.requestId}`;
    return await call(await findWorkTracker(trackerTarget(project, platform), { actor, purpose }));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return refused(error.message, 'auth_failed');
  }
}

async function noteClosed(tx: Tx, { projectId, platform, workItemKey }: ItemReport, at: Date): Promise<void> {
  const project = await projectById(tx, projectId);
  if (project) await noteItemState(tx, project, { projectId, platform, workItemKey, isClosed: true, at });
}
