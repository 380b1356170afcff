import { disarmExpired } from '../../domain/mocks/scenarios/active-scenarios.mutations.ts';
import { overdueScenarios } from '../../domain/mocks/mocks.queries.ts';
import { purgeCalls } from '../../domain/mocks/serving/replay.queries.ts';
import { systemActor } from '../../domain/kernel/shared/actor.ts';
import { defineChore, defineSweep } from '../kernel/system/define-sweep.ts';

/** Writes down that scenarios are no longer armed, which they are not by the clock. */
export const expiredScenariosSweep = defineSweep({
  name: 'expired-mock-scenarios',
  isRoutine: true,
  due: ({ system }, limit) => overdueScenarios(system, limit),
  key: ({ id }) => id,
  handle: ({ actingAs }, { id, ...tenant }) => actingAs(systemActor(tenant, 'mocks'))((tx) => disarmExpired(tx, id)),
});

/** Calls that are kept of each scenario: as many as are shown. */
const CALLS_KEPT = 10_000;

export const mockCallsChore = defineChore({
  name: 'expired-mock-calls',
  everyMs: 300_000,
  run: ({ system, retention }) => purgeCalls(system, { kept: CALLS_KEPT, days: retention.mockCallDays }),
});
