import { overduePreviews } from '../../../domain/ci/builds/build-previews.queries.ts';
import { buildImpactContract } from '../../../workflows/ci/builds/build-impact.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** The start of a preview that is pending for so long was lost. */
const OVERDUE_SECONDS = 30;

/** Starts computations that were requested while Temporal was unavailable. */
export const buildImpactsSweep = defineSweep({
  name: 'build-impacts',
  limit: 100,
  due: ({ system }, limit) => overduePreviews(system, OVERDUE_SECONDS, limit),
  key: ({ tenantId, projectId, previewKey, generation }) => `${tenantId}/${projectId}/${previewKey}/${generation}`,
  handle: ({ launch }, preview) => launch.start(buildImpactContract, preview),
});
