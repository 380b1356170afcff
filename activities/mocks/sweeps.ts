import type { Sweep } from '../kernel/system/define-sweep.ts';
import { mockDriftsSweep } from './mock-drifts.sweep.ts';
import { expiredScenariosSweep, mockCallsChore } from './mocks.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [mockDriftsSweep, expiredScenariosSweep, mockCallsChore];
