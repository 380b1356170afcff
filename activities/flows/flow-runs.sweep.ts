import type { AcceptedRun } from '../../domain/flows/accept-run.ts';
import { runById } from '../../domain/flows/flow-runs.queries.ts';
import { endRun } from '../../domain/flows/run-moves.ts';
import { NEW_RUN } from '../../domain/flows/run-status-rules.ts';
import { flowRun } from '../../workflows/flows/flow-run.contract.ts';
import type { Deps } from '../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

/** A run that was accepted so long ago, and has not begun, was not launched. */
const OVERDUE_SECONDS = 30;
/** A run of which nothing was heard for so long may have lost its workflow. */
const SILENT_SECONDS = 600;
const AT_ONCE = 20;
const MOST = 2_000;

interface OpenRun extends AcceptedRun {
  isNew: boolean;
  isToCancel: boolean;
}

// What was looked after once is left alone for a while: `launched_at` says when.
const OPEN = `
  select run.tenant_id as "tenantId", run.id as "runId", run.task_type as "taskType", project.identifier as "repositoryIdentifier",
    run.request_id as "requestId", run.traceparent, run.status = '${NEW_RUN}' as "isNew", run.cancel_requested_at is not null as "isToCancel"
  from flow_run run left join project on project.tenant_id = run.tenant_id and project.id = run.project_id
  where run.ended_at is null and run.has_workflow
    and coalesce(run.launched_at, '-infinity') < now() - make_interval(secs => ${SILENT_SECONDS})
    and run.updated_at < now() - make_interval(secs =>
      case when run.status = '${NEW_RUN}' or run.cancel_requested_at is not null then $1::double precision else ${SILENT_SECONDS} end)
  order by run.updated_at limit ${MOST}`;

/**
 * Looks after runs that stand still: one that was accepted and not launched is launched, a cancellation that was not
 * passed on is, and one whose workflow ended without closing it, as an operator can make it, is closed.
 */
export async function sweepRuns(
  { systemPool, launch, log, actingAs }: Deps,
  overdueSeconds = OVERDUE_SECONDS,
): Promise<number> {
  const { rows } = await systemPool.query<OpenRun>(OPEN, [overdueSeconds]);
  const lookAfter = async ({ isNew, isToCancel, ...found }: OpenRun): Promise<number> => {
    const run = Object.fromEntries(
      Object.entries(found).filter(([, value]) => value !== null),
    ) as unknown as AcceptedRun;
    if (isNew) await launch.start(flowRun, run);
    if (isToCancel) await launch.cancel(flowRun, run);
    await systemPool.query('update flow_run set launched_at = now() where tenant_id = $1 and id = $2', [
      run.tenantId,
      run.runId,
    ]);
    if (isNew || isToCancel) return 1;
    if (await launch.isRunning(flowRun, run)) return 0;
    await unitOfRun(
      { actingAs },
      run,
    )(async (tx) => endRun(tx, await runById(tx, run.runId, { isLocked: true }), ABANDONED));
    return 1;
  };
  let found = 0;
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const counts = await Promise.all(
      rows.slice(at, at + AT_ONCE).map((run) =>
        lookAfter(run).catch((error: unknown) => {
          log.warn({ err: error, runId: run.runId }, 'a run still stands');
          return 0;
        }),
      ),
    );
    found += counts.reduce((sum, count) => sum + count, 0);
  }
  return found;
}

const ABANDONED = { status: 'failed', error: 'The workflow of the run was ended without closing it' } as const;

/** Adds up the changes of counts since the last time, so that lists have few rows to add up themselves. */
export async function settleCounts({ systemPool }: Deps): Promise<number> {
  const { rows } = await systemPool.query<{ settled: number }>('select settle_flow_run_tally() as settled');
  return rows[0]?.settled ?? 0;
}
