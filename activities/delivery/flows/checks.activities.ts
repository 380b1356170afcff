import { ApplicationFailure } from '@temporalio/common';
import { contextOf, labelOf, stateOnHost } from '../../../domain/delivery/flows/checks/check-rules.ts';
import {
  type DueCheck,
  dueChecks,
  noteUnwritten,
  noteWritten,
} from '../../../domain/delivery/flows/checks/flow-checks.queries.ts';
import { type RunContext, runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { GitHost, HostAnswer } from '../../../domain/code/git-hosts/git-host.port.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { FlowChecksInput } from '../../../workflows/delivery/flows/flow-checks.contract.ts';
import type { Deps } from '../../deps.ts';

/** Hosts cut or refuse longer ones. */
const DESCRIPTION_MAX = 140;

export const createCheckActivities = ({ actingAs, reads, git: { findHost } }: Deps) => ({
  /** Writes the checks of a run that are due to its host. For what can never be written the reason is recorded. */
  async writeChecks({ runId, ...tenant }: FlowChecksInput): Promise<void> {
    const actor = systemActor(tenant, 'flow');
    const due = await dueChecks(reads.as(actor), runId);
    if (due.length === 0) return;
    const run = await runById(reads.as(actor), runId);
    const { projectId, platform } = run;
    const host =
      projectId === null || platform === null
        ? undefined
        : await findHost({ ...tenant, projectId, platform, purpose: `checks of run ${runId}` });
    const unit = actingAs(actor);
    for (const check of due) {
      const answer = await write(host, run, check);
      if (answer.isOk || !answer.isTransient)
        await unit((tx) => noteWritten(tx, runId, check, answer.isOk ? null : answer.reason));
      else {
        await unit((tx) => noteUnwritten(tx, runId, check, answer.reason));
        throw ApplicationFailure.retryable(answer.reason);
      }
    }
  },
});
export type CheckActivities = ReturnType<typeof createCheckActivities>;

async function write(
  host: GitHost | undefined,
  run: RunContext,
  { kind, wanted }: DueCheck,
): Promise<HostAnswer<null>> {
  const never = (reason: string) => ({ isOk: false, isTransient: false, mayBeDone: false, reason }) as const;
  const { repositoryIdentifier: repository, payload } = run;
  if (!host || repository === null) return never('no credential for the git host is kept');
  if (kind === 'label') {
    if (payload.prNumber === undefined) return never('the run names no pull request');
    return host.changeLabel({ repository, prNumber: payload.prNumber, ...labelOf(wanted.status) });
  }
  if (payload.commitId === undefined) return never('the run names no commit');
  return host.writeStatus({
    repository,
    commitId: payload.commitId,
    context: contextOf(kind, run),
    state: stateOnHost(wanted.status),
    description: wanted.description.slice(0, DESCRIPTION_MAX),
    targetUrl: run.cicdRunUrl ?? undefined,
  });
}
