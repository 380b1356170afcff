import { proxyActivities, setWorkflowOptions } from '@temporalio/workflow';
import type { BuildActivities } from '../../../activities/ci/builds/builds.activities.ts';
import { UNTIL_DONE } from '../../activity-options.ts';
import type { BuildImpactInput } from './build-impact.contract.ts';
import { endsOnItsBuild } from '../../versioning.ts';

const { computeImpact } = proxyActivities<BuildActivities>(UNTIL_DONE);

setWorkflowOptions(endsOnItsBuild, buildImpact);

/** Computes which domains and packages a build of a commit would concern. */
export async function buildImpact(input: BuildImpactInput): Promise<void> {
  await computeImpact(input);
}
