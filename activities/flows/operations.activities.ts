import type { RunKey } from '../../domain/flows/accept-run.ts';
import { runById } from '../../domain/flows/flow-runs.queries.ts';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { gitCredential } from '../../domain/git/git-credentials.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { Deps } from '../deps.ts';

/** What the service itself does for a run. */
export const createOperationActivities = ({ reads, actingAs, encryption, git: { createBranch } }: Deps) => ({
  /** Carries out a run of a type that the service knows how to do; done twice, it comes to the same. */
  async runOperation({ tenantId, runId }: RunKey): Promise<RunOutcome> {
    const { taskType, payload, projectId, platform, remoteUrl, repositoryIdentifier } = await runById(
      reads.as(systemActor(tenantId, 'flow')),
      runId,
    );
    if (taskType !== 'create-patch-branch')
      return { status: 'failed', error: `The service itself does not carry out ${taskType}` };
    if (projectId === null || platform === null || repositoryIdentifier === null || remoteUrl === null) {
      return { status: 'failed', error: `The project ${repositoryIdentifier ?? ''} has no remoteUrl` };
    }
    const place = { projectId, platform, remoteUrl, repositoryIdentifier };
    const credential = await actingAs(systemActor(tenantId, 'flow'))((tx) => gitCredential(tx, encryption, place));
    const made = await withHeartbeat((signal) =>
      createBranch(
        {
          remote: { url: remoteUrl, credential },
          branch: String(payload.newBranch),
          sourceRef: String(payload.sourceRef),
        },
        signal,
      ),
    );
    return made.isOk
      ? { status: 'succeeded', result: { branch: payload.newBranch, commitId: made.commitId } }
      : { status: 'failed', error: made.reason };
  },
});
export type OperationActivities = ReturnType<typeof createOperationActivities>;
