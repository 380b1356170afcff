import type { Tx } from '../unit-of-work.ts';
import { type NewRun, insertRun, placeOf, triggerOf } from './new-runs.queries.ts';
import { parsePayload } from './flow-types.ts';
import { NEW_RUN } from './run-status-rules.ts';

/** What its workflow is started with. */
export interface AcceptedRun extends RunKey {
  taskType: string;
  repositoryIdentifier?: string | undefined;
}

/** A run, and the request and trace that caused it. */
export interface RunKey {
  tenantId: string;
  runId: string;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

/** Where a run comes from, when it is not simply asked for. */
export type RunOrigin = Partial<
  Pick<
    NewRun,
    | 'id'
    | 'parentId'
    | 'scheduleId'
    | 'rerunOfId'
    | 'rerunType'
    | 'isScheduled'
    | 'schedulePath'
    | 'externalId'
    | 'triggeredBy'
    | 'requestedBy'
    | 'domain'
  >
>;

/**
 * Takes on a run: inserts its row, which is the intent. Whoever calls launches its workflow after the commit; when
 * that is lost, the sweep does. Undefined when the origin's `externalId` was taken on before.
 * Throws `invalid_request` for a payload that no type takes, or that names an unknown repository or environment.
 *
 * @param pointer where the payload stands in the request, for refusals.
 */
export async function acceptRun(
  tx: Tx,
  given: Record<string, unknown>,
  { requestId, pointer = '#/body/payload', ...origin }: RunOrigin & { requestId?: string; pointer?: string } = {},
): Promise<AcceptedRun | undefined> {
  const { type, payload } = parsePayload(given, pointer);
  const place = await placeOf(tx, payload, pointer);
  const runId = await insertRun(
    tx,
    {
      projectId: place?.projectId ?? null,
      environmentId: place?.environmentId ?? null,
      hasWorkflow: true,
      taskType: type.id,
      category: type.category,
      flowPath: payload.flowPath ?? `flows/${type.id}`,
      executionMode: payload.pipeline ? 'cicd' : 'flow',
      isInternal: type.isInternal,
      isScheduled: false,
      domain: payload.domain ?? null,
      releaseName: payload.releaseName ?? null,
      status: NEW_RUN,
      payload,
      workItem: payload.workItemRef ?? null,
      triggeredBy: triggerOf(tx.actor),
      ...origin,
    },
    requestId,
  );
  if (runId === undefined) return undefined;
  tx.audit({
    source: 'flow',
    action: 'flow.run_requested',
    entityType: 'flow_run',
    entityId: runId,
    repositoryIdentifier: place?.repositoryIdentifier ?? null,
    summary: `Run of ${type.id} requested`,
    after: {
      taskType: type.id,
      environmentName: payload.environmentName ?? null,
      domain: payload.domain ?? null,
      releaseName: payload.releaseName ?? null,
      rerunOfExecutionId: origin.rerunOfId ?? null,
    },
  });
  return {
    tenantId: tx.tenantId,
    runId,
    taskType: type.id,
    ...(requestId !== undefined && { requestId }),
    ...(tx.traceparent !== undefined && { traceparent: tx.traceparent }),
    ...(place && { repositoryIdentifier: place.repositoryIdentifier }),
  };
}
