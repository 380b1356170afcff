import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { stalledWork, type WorkTable } from '../../../domain/kernel/system/stalled-work.queries.ts';
import type { WorkflowContract } from '../../../workflows/launch.ts';
import type { Deps } from '../../deps.ts';
import { defineSweep, type Sweep } from './define-sweep.ts';

/** Work that was asked for this long ago and has not begun was not launched. */
const QUEUED_MAX_SECONDS = 30;

/** Work of a table, each row of which has a workflow. */
interface StalledWork<Input extends TenantKey> {
  name: string;
  table: WorkTable;
  contract: WorkflowContract<Input>;
  /** Work that has been running for this long may have lost its workflow; repeating it must be safe. */
  runningMaxSeconds: number;
  inputOf: (tenant: TenantKey, id: string, deps: Deps) => Input | Promise<Input>;
  /** Ends work whose workflow somebody ended. */
  end: (deps: Deps, input: Input) => Promise<unknown>;
}

/** Launches work whose launch was lost, or whose workflow the engine lost, and settles what has outlived its workflow. */
export const defineStalledWorkSweep = <Input extends TenantKey>(work: StalledWork<Input>): Sweep =>
  defineSweep({
    name: work.name,
    limit: 200,
    due: ({ system }, limit) =>
      stalledWork(system, work.table, {
        queuedSeconds: QUEUED_MAX_SECONDS,
        runningSeconds: work.runningMaxSeconds,
        limit,
      }),
    key: ({ id }) => id,
    async handle(deps, { id, ...tenant }) {
      const input = await work.inputOf(tenant, id, deps);
      const state = await deps.launch.stateOf(work.contract, input);
      if (state === 'running') return 0;
      // A workflow that has ended is not started again.
      if (state === 'absent') await deps.launch.start(work.contract, input);
      else await work.end(deps, input);
      return 1;
    },
  });
