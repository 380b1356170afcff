import type { Area } from '../kernel/area-manifest.ts';
import { announceFailedAnalysis } from './code-analysis/jobs/analysis-runs.mutations.ts';

/** What the area adds to the service. */
export const insight = {
  hooks: {
    runReached: announceFailedAnalysis,
  },
} satisfies Area;
