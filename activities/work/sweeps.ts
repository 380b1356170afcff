import type { Sweep } from '../kernel/system/define-sweep.ts';
import { unconfirmedRequestsSweep, workItemReportsSweep } from './work-item-requests/work-item-requests.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [unconfirmedRequestsSweep, workItemReportsSweep];
