/** The id of the workflow of a flow's run. */
export const flowWorkflowId = (tenantId: string, runId: string): string => `${tenantId}/flow/${runId}`;
