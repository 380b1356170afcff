import { flowRunContract, type FlowRunKey } from '../../workflows/delivery/flows/flow-run.contract.ts';
import type { TestApp } from './app.ts';

/** What the id of a run's workflow is made of, from its row. */
export async function keyOfRun(app: TestApp, runId: string): Promise<FlowRunKey & { tenantId: string }> {
  const { taskType, workflowPath } = await app.db
    .selectFrom('flow_run')
    .where('id', '=', runId)
    .select(['taskType', 'workflowPath'])
    .executeTakeFirstOrThrow();
  return { ...app.tenantKey, runId, taskType, workflowPath };
}

/** The id of a run's workflow in Temporal. */
export const workflowIdOfRun = async (app: TestApp, runId: string): Promise<string> =>
  app.launch.idOf(flowRunContract, await keyOfRun(app, runId));
