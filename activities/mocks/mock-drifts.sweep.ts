import { endDrift } from '../../domain/mocks/drift/drifts.mutations.ts';
import { systemActor } from '../../domain/kernel/shared/actor.ts';
import { mockDriftContract } from '../../workflows/mocks/mock-drift.contract.ts';
import { defineStalledWorkSweep } from '../kernel/system/stalled-work-sweep.ts';

/** Launches comparisons of mock scenarios whose launch was lost, and settles those whose workflow somebody ended. */
export const mockDriftsSweep = defineStalledWorkSweep({
  name: 'mock-drifts',
  table: 'mock_drift',
  contract: mockDriftContract,
  runningMaxSeconds: 600,
  inputOf: (tenant, driftId) => ({ ...tenant, driftId }),
  end: ({ actingAs }, input) =>
    actingAs(systemActor(input, 'mock-drift'))((tx) =>
      endDrift(tx, input.driftId, { checked: 0, error: 'The comparison was ended from outside' }),
    ),
});
