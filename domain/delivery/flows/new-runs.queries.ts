import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { inserting, type NewRow, statement } from '../../kernel/data/statement.ts';
import { environmentNames } from '../../projects/environments/environments.queries.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { invalidField } from '../../kernel/shared/errors.ts';
import type { ExecutorPolicy } from '../../projects/policies/executor-policy-rules.ts';
import type { Override } from '../../projects/policies/promotion-policy-rules.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { RunPayload } from './flow-payloads.ts';
import type { WorkItemRef } from './work-item-ref.schemas.ts';
import { displayOf } from './run-status-rules.ts';

interface PlaceParameters {
  tenantId: string;
  repositoryIdentifier: string;
  environmentName?: string | undefined;
  environmentId?: string | undefined;
}

const PLACE = statement<PlaceParameters>()((db, { tenantId, repositoryIdentifier, environmentName, environmentId }) =>
  db
    .selectFrom('project')
    .leftJoin('environment', (join) => {
      let on = join
        .onRef('environment.tenantId', '=', 'project.tenantId')
        .onRef('environment.projectId', '=', 'project.id');
      if (environmentName) on = on.on('environment.name', '=', environmentName);
      if (environmentId) on = on.on('environment.id', '=', environmentId);
      return environmentName || environmentId ? on : on.on((eb) => eb.lit(false));
    })
    .where('project.tenantId', '=', tenantId)
    .where('project.identifier', '=', repositoryIdentifier)
    .select([
      'project.id as projectId',
      'project.identifier as repositoryIdentifier',
      'project.defaultBranch',
      'environment.id as environmentId',
      sql<ExecutorPolicy | null>`project.configuration->'executors'`.as('executors'),
    ]),
);
/** What a run is about, found by what its payload names. */
export type RunPlace = Awaited<ReturnType<typeof PLACE>>[number];

/**
 * Finds repository and environment of a payload; undefined when it names none. Throws `invalid_request`.
 * @param prefix of the payload's fields in the request: `payload/`.
 */
export async function placeOf(
  { db, tenantId }: Reads,
  payload: RunPayload,
  prefix: string,
): Promise<RunPlace | undefined> {
  const { repositoryIdentifier, environmentName, environmentId } = payload;
  const namesEnvironment = environmentName !== undefined || environmentId !== undefined;
  const unknownRepository = (detail: string) => invalidField(`${prefix}repositoryIdentifier`, detail);
  if (repositoryIdentifier === undefined) {
    if (namesEnvironment) throw unknownRepository('an environment is one of a repository: name it, too');
    return undefined;
  }
  const [place] = await PLACE(db, { tenantId, repositoryIdentifier, environmentName, environmentId });
  if (!place) throw unknownRepository(`The repository ${repositoryIdentifier} is not registered as a project`);
  if (namesEnvironment && place.environmentId === null) {
    if (environmentName === undefined)
      throw invalidField(`${prefix}environmentId`, `The repository ${repositoryIdentifier} has no such environment`);
    const suggestion = didYouMean(environmentName, await environmentNames({ db, tenantId }, place.projectId));
    throw invalidField(
      `${prefix}environmentName`,
      `The repository ${repositoryIdentifier} has no environment ${environmentName}${suggestion}`,
    );
  }
  return place;
}

type RunColumns = NewRow<'flow_run'>;
/** A run as it is accepted; its other columns follow from it. */
export type NewRun = Pick<
  RunColumns,
  | 'hasWorkflow'
  | 'taskType'
  | 'category'
  | 'flowPath'
  | 'executionMode'
  | 'isInternal'
  | 'isScheduled'
  | 'status'
  | 'triggeredBy'
> & { projectId: string | null; payload: RunPayload } & Partial<
    Pick<
      RunColumns,
      | 'id'
      | 'environmentId'
      | 'parentId'
      | 'scheduleId'
      | 'rerunOfId'
      | 'rerunType'
      | 'schedulePath'
      | 'externalId'
      | 'domain'
      | 'releaseName'
      | 'workflowPath'
    >
  > & {
    workItem?: WorkItemRef | null;
    override?: Override | null;
    /** The actor when absent. */
    requestedBy?: Actor;
  };

const INSERT = inserting(
  'flow_run',
  [
    'id',
    'tenantId',
    'projectId',
    'environmentId',
    'parentId',
    'scheduleId',
    'rerunOfId',
    'rerunType',
    'hasWorkflow',
    'taskType',
    'category',
    'flowPath',
    'executionMode',
    'isInternal',
    'isScheduled',
    'schedulePath',
    'externalId',
    'domain',
    'releaseName',
    'workflowPath',
    'status',
    'displayStatus',
    'payload',
    'workItemType',
    'workItemKey',
    'workItem',
    'override',
    'triggeredBy',
    'requestedBy',
    'requestId',
    'traceparent',
    'createdAt',
    'updatedAt',
    'startedAt',
  ],
  (query) =>
    query
      .onConflict((conflict) =>
        conflict.columns(['tenantId', 'externalId']).where('externalId', 'is not', null).doNothing(),
      )
      .returning('id'),
);

/** Inserts a run; undefined when its `externalId` names one already. A run without a workflow has begun elsewhere. */
export async function insertRun(
  tx: Tx,
  { payload, workItem, override, requestedBy: { collections: _, ...requestedBy } = tx.actor, ...run }: NewRun,
  requestId?: string,
): Promise<string | undefined> {
  const [row] = await INSERT(tx.db, {
    ...run,
    id: run.id ?? newId(),
    tenantId: tx.tenantId,
    displayStatus: displayOf(run.status),
    payload: json(payload),
    workItemType: workItem?.type ?? null,
    workItemKey: workItem?.key ?? null,
    workItem: workItem ? json(workItem) : null,
    override: override ? json(override) : null,
    requestedBy: json(requestedBy),
    requestId: requestId ?? null,
    traceparent: tx.traceparent ?? null,
    createdAt: tx.now,
    updatedAt: tx.now,
    startedAt: run.hasWorkflow ? null : tx.now,
  });
  return row?.id;
}

/** The run that has this `externalId`, if there is one. */
export const runByExternalId = ({ db, tenantId }: Reads, externalId: string) =>
  db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('externalId', '=', externalId)
    .select('id')
    .executeTakeFirst();
