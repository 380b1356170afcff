import { approvalContract, type ApprovalInput, RECHECK_SIGNAL } from '../../workflows/approvals/approval.contract.ts';
import type { Deps } from '../deps.ts';

/** Its own workflow tells the run within this time. */
const TOLD_WITHIN_SECONDS = 2;
/** The most approvals of one sweep; the others have their turn in the next. */
const MOST = 500;
const WORDS_AT_ONCE = 20;

// Settled by a change of the candidate, and the run does not know; or open, and its workflow was not started, missed
// its time, or waits for a run that has ended.
const UNTOLD = `
  select a.tenant_id as "tenantId", a.id as "approvalId", a.task_type as "taskType", a.repository_identifier as "repositoryIdentifier"
  from approval a
  where a.told_at is null and case a.status when 'requested' then
      (a.confirmed_at is null and a.created_at < now() - interval '30 seconds')
      or a.expires_at < now() - interval '30 seconds'
      or exists (select from flow_run r where r.tenant_id = a.tenant_id and r.id = a.run_id and r.ended_at is not null)
    else a.resolved_at <= now() - make_interval(secs => $1) end
  order by a.created_at limit ${MOST}`;

/** Has the workflows of approvals look again where they may have missed something. */
export async function sweepApprovals(
  { systemPool, launch }: Deps,
  toldWithinSeconds = TOLD_WITHIN_SECONDS,
): Promise<number> {
  const { rows } = await systemPool.query<ApprovalInput>(UNTOLD, [toldWithinSeconds]);
  for (let at = 0; at < rows.length; at += WORDS_AT_ONCE) {
    await Promise.all(
      rows.slice(at, at + WORDS_AT_ONCE).map((input) => launch.signal(approvalContract, input, RECHECK_SIGNAL)),
    );
  }
  return rows.length;
}
