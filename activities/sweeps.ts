import { sweeps as kernel } from './kernel/sweeps.ts';
import { sweeps as events } from './events/sweeps.ts';
import { sweeps as identity } from './identity/sweeps.ts';
import { sweeps as mocks } from './mocks/sweeps.ts';
import { sweeps as code } from './code/sweeps.ts';
import { sweeps as orgs } from './orgs/sweeps.ts';
import { sweeps as delivery } from './delivery/sweeps.ts';
import { sweeps as review } from './review/sweeps.ts';
import { sweeps as work } from './work/sweeps.ts';
import { sweeps as ci } from './ci/sweeps.ts';
import { sweeps as people } from './people/sweeps.ts';
import { sweeps as insight } from './insight/sweeps.ts';
import type { Sweep } from './kernel/system/define-sweep.ts';

/** Every kind of accepted work that a crash or an absent engine can leave undone, and of rows that expire; from the ground up. */
export const SWEEPS: readonly Sweep[] = [
  ...kernel,
  ...events,
  ...identity,
  ...mocks,
  ...code,
  ...orgs,
  ...delivery,
  ...review,
  ...work,
  ...ci,
  ...people,
  ...insight,
];
