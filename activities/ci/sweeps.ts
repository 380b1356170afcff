import { purgeChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { buildImpactsSweep } from './builds/build-impacts.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  buildImpactsSweep,
  purgeChore('expired-hooks', 'purge_hook_deliveries'),
  purgeChore('expired-build-previews', 'purge_build_previews'),
];
