import { endGcCheck } from '../../domain/gc-ledger/gc-checks.mutations.ts';
import { stalledChecks } from '../../domain/gc-ledger/gc-checks.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { gcCheckContract } from '../../workflows/gc-ledger/gc-check.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** A check that was asked for this long ago and has not begun was not launched. */
const QUEUED_MAX_SECONDS = 30;
/** A check that has been running for this long may have lost its workflow. */
const RUNNING_MAX_SECONDS = 600;

/** Launches checks whose launch was lost, and settles those whose workflow somebody ended. */
export const gcChecksSweep = defineSweep({
  name: 'gc-checks',
  limit: 200,
  due: ({ system }, limit) =>
    stalledChecks(system, { queuedSeconds: QUEUED_MAX_SECONDS, runningSeconds: RUNNING_MAX_SECONDS, limit }),
  key: ({ checkId }) => checkId,
  async handle({ launch, actingAs }, { isNew, ...input }) {
    if (isNew) await launch.start(gcCheckContract, input);
    else if (await launch.isRunning(gcCheckContract, input)) return 0;
    else {
      const error = 'The check was ended from outside';
      await actingAs(systemActor(input, 'gc-check'))((tx) =>
        endGcCheck(tx, input.checkId, { environments: [], error }),
      );
    }
    return 1;
  },
});
