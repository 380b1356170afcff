import type { Deps } from '../../deps.ts';
import { createChildActivities } from './children.activities.ts';
import { createPipelineActivities } from './pipelines.activities.ts';
import { createCheckActivities } from './checks.activities.ts';
import { createRunStepActivities } from './run-steps.activities.ts';
import { createScheduleActivities } from './schedules.activities.ts';

/**
 * All that runs do, except the operator's commands and the service's own operations, which have other workers.
 * @param options.runsCommands this process is such a worker, too: it executes brief commands itself.
 */
export const createFlowActivities = (deps: Deps, options: { runsCommands: boolean }) => ({
  ...createRunStepActivities(deps, options),
  ...createPipelineActivities(deps),
  ...createChildActivities(deps),
  ...createScheduleActivities(deps),
  ...createCheckActivities(deps),
});
