import { overduePreviews } from '../../domain/builds/overdue-previews.queries.ts';
import { buildImpactContract } from '../../workflows/builds/build-impact.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** A preview that waits for this long lost its start. */
const OVERDUE_SECONDS = 30;

/** Starts computations that were asked for while the engine was away. */
export const buildImpactsSweep = defineSweep({
  name: 'build-impacts',
  limit: 100,
  due: ({ system }, limit) => overduePreviews(system, OVERDUE_SECONDS, limit),
  key: ({ tenantId, projectId, previewKey, generation }) => `${tenantId}/${projectId}/${previewKey}/${generation}`,
  handle: ({ launch }, preview) => launch.start(buildImpactContract, preview),
});
