import type { Area } from '../kernel/area-manifest.ts';
import { reportRunToRequest } from './work-item-requests/run-reports.mutations.ts';

/** What the area adds to the service. */
export const work = {
  hooks: {
    runReached: reportRunToRequest,
  },
} satisfies Area;
