import { acceptRun, type AcceptedRun, type RunKey } from '../../domain/flows/accept-run.ts';
import { latestChildren, noteCancel, type RunContext, runById } from '../../domain/flows/flow-runs.queries.ts';
import { nextStage, type Stage } from '../../domain/flows/release-stage-rules.ts';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { isFinal, isSuccess, outcomeOf } from '../../domain/flows/run-status-rules.ts';
import { textArray } from '../../domain/shared/text-array.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { flowRun } from '../../workflows/flows/flow-run.contract.ts';
import type { Deps } from '../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

interface Place {
  id: string;
  name: string;
  orchestrationOrder: number;
}

/** Runs of which a release is made: one per release environment, stage by stage. */
export const createChildActivities = (deps: Deps) => ({
  /**
   * Starts the children of the next stage when all before it are well; answers the outcome of all when there is nothing
   * left to start, else null.
   */
  async startChildren(key: RunKey): Promise<RunOutcome | null> {
    const { started, outcome } = await unitOfRun(
      deps,
      key,
    )(async (tx) => {
      const run = await runById(tx, key.runId, { isLocked: true });
      const places =
        run.projectId === null
          ? []
          : await releasePlaces(tx, run.projectId, run.payload.environmentNames as string[] | undefined);
      if (places.length === 0)
        return {
          started: [],
          outcome: {
            status: 'failed',
            error: 'The repository has no active release environment to deploy to',
          } as const,
        };
      const children = await latestChildren(tx, run.id);
      const stages: Stage<Place>[] = places.map((place) => ({
        item: place,
        order: place.orchestrationOrder,
        state: stateOf(children.find(({ environmentId }) => environmentId === place.id)?.status),
      }));
      const next = nextStage(stages);
      const accepted: AcceptedRun[] = [];
      for (const { name } of next) accepted.push(await startOne(tx, run, name));
      const status = next.length > 0 ? undefined : outcomeOf(children.map((child) => child.status));
      return { started: accepted, outcome: status === undefined ? null : { status } };
    });
    for (const child of started) deps.launch.begin(flowRun, child);
    return outcome;
  },

  /** Asks the children that are open to end, too. */
  async cancelChildren(key: RunKey): Promise<void> {
    const open = await unitOfRun(
      deps,
      key,
    )(async (tx) => {
      const children = (await latestChildren(tx, key.runId)).filter(
        ({ status, hasWorkflow }) => hasWorkflow && !isFinal(status),
      );
      await noteCancel(
        tx,
        children.map(({ id }) => id),
      );
      return children;
    });
    await Promise.all(
      open.map(({ id, taskType }) => deps.launch.cancel(flowRun, { tenantId: key.tenantId, runId: id, taskType })),
    );
  },
});
export type ChildActivities = ReturnType<typeof createChildActivities>;

const stateOf = (status: Parameters<typeof isFinal>[0] | undefined): Stage<unknown>['state'] => {
  if (status === undefined) return 'absent';
  if (!isFinal(status)) return 'open';
  return isSuccess(status) ? 'well' : 'ended';
};

const releasePlaces = ({ sql, tenantId }: Tx, projectId: string, names: string[] | undefined): Promise<Place[]> =>
  sql(
    `select id, name, orchestration_order as "orchestrationOrder" from environment
     where tenant_id = ? and project_id = ? and is_active and category = 'release' and (?::text[] is null or name = any (?::text[]))
     order by orchestration_order, name`,
    [tenantId, projectId, names ? textArray(names) : null, names ? textArray(names) : null],
  );

/** In the name of whoever asked for the parent: they may not approve what they asked for. */
async function startOne(
  tx: Tx,
  { id: parentId, payload, triggeredBy, requestedBy }: RunContext,
  name: string,
): Promise<AcceptedRun> {
  const { environmentNames: _, flowPath: __, ...shared } = payload;
  const accepted = await acceptRun(
    tx,
    { ...shared, id: 'execute-release', environmentName: name },
    { parentId, triggeredBy, requestedBy },
  );
  if (!accepted) throw new Error('a run without an external id is always taken on');
  return accepted;
}
