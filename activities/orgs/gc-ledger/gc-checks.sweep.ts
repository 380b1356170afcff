import { endGcCheck, gcCheck } from '../../../domain/orgs/gc-ledger/gc-checks.mutations.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { gcCheckContract, gcCheckInput } from '../../../workflows/orgs/gc-ledger/gc-check.contract.ts';
import { defineStalledWorkSweep } from '../../kernel/system/stalled-work-sweep.ts';

/** Launches checks whose launch was lost, and settles those whose workflow somebody ended. */
export const gcChecksSweep = defineStalledWorkSweep({
  name: 'gc-checks',
  table: 'gc_check',
  contract: gcCheckContract,
  runningMaxSeconds: 600,
  inputOf: async (tenant, checkId, { actingAs }) =>
    gcCheckInput(tenant, await actingAs(systemActor(tenant, 'gc-check'))((tx) => gcCheck(tx, checkId))),
  end: ({ actingAs }, input) =>
    actingAs(systemActor(input, 'gc-check'))((tx) =>
      endGcCheck(tx, input.checkId, { environments: [], error: 'The check was ended from outside' }),
    ),
});
