import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { CheckKind, WantedCheck } from './checks/check-rules.ts';
import type { RunPayload } from './flow-payloads.ts';
import type { WorkItemRef } from './work-item-ref.schemas.ts';
import type { FlowCategory } from './flow-categories.ts';
import type { DeployedContent } from './run-deployment-rules.ts';
import type { Override } from '../../projects/policies/promotion-policy-rules.ts';
import type { RunOutcome } from './flow-runs.mutations.ts';
import type { ToldPipeline } from './programs/pipeline-output-rules.ts';
import type { RunProgress } from './run-progress-rules.ts';
import type { StoredMove } from './run-move-rules.ts';
import type { DisplayStatus, RunStatus } from './run-status-rules.ts';

/** Whether a run is executed by the service and its workers, or by a pipeline of the git host. */
export type ExecutionMode = 'flow' | 'cicd';

/** Columns by which runs are counted. */
const tallied = {
  projectId: p.uuid().nullable(),
  status: p.text().$type<RunStatus>(),
  displayStatus: p.text().$type<DisplayStatus>(),
  category: p.text().$type<FlowCategory>(),
  taskType: p.text(),
  flowPath: p.text(),
  executionMode: p.text().$type<ExecutionMode>(),
  workItemType: p.text().nullable(),
};

export const FlowCheckSchema = defineEntity({
  name: 'FlowCheck',
  tableName: 'flow_check',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    kind: p.text().$type<CheckKind>().primary(),
    /** What the git host should show. */
    wanted: jsonColumn<WantedCheck>(),
    /** Revision of `wanted`; the host shows that of `writtenRevision`. */
    revision: p.integer().default(1),
    writtenRevision: p.integer().default(0),
    error: p.text().nullable(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const FlowRunSchema = defineEntity({
  name: 'FlowRun',
  tableName: 'flow_run',
  properties: {
    ...tenantOwned,
    ...tallied,
    environmentId: p.uuid().nullable(),
    parentId: p.uuid().nullable(),
    scheduleId: p.uuid().nullable(),
    rerunOfId: p.uuid().nullable(),
    rerunType: p.text().nullable(),
    /** False for a run that an external worker executes and only reports. */
    hasWorkflow: p.boolean(),
    isInternal: p.boolean().default(false),
    isScheduled: p.boolean().default(false),
    schedulePath: p.text().nullable(),
    /** What the caller knows it by; the same one is accepted once. */
    externalId: p.text().nullable(),
    domain: p.text().nullable(),
    releaseName: p.text().nullable(),
    payload: jsonColumn<RunPayload>().defaultRaw("'{}'::jsonb"),
    result: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    error: p.text().nullable(),
    /** When a run that waits for a window may begin as far as that is known. */
    nextWindowAt: p.datetime(3).nullable(),
    /** What it waits for, for people. */
    waitsFor: p.text().nullable(),
    /** An owner's, by which it passes windows, freezes and what must be deployed before. */
    override: jsonColumn<Override>().nullable(),
    cicdRunId: p.text().nullable(),
    cicdRunUrl: p.text().nullable(),
    workItemKey: p.text().nullable(),
    workItem: jsonColumn<WorkItemRef>().nullable(),
    triggeredBy: p.text(),
    /** Who set it in motion, and on whose behalf: where self-approval is not allowed, none of them may approve it. */
    requestedBy: jsonColumn<Omit<Actor, 'collections'>>(),
    requestId: p.text().nullable(),
    traceparent: p.text().nullable(),
    outputTail: p.text().nullable(),
    /** Key of the whole output in the object store; null when the tail is all of it. */
    outputObject: p.text().nullable(),
    /** The last of what it has printed while it goes on; stays where its worker was lost. */
    outputSoFar: p.blob().nullable(),
    /** How many bytes it has printed. */
    outputBytes: p.bigint('string').nullable(),
    /** What of its pipeline the output has told. */
    pipelineTold: jsonColumn<ToldPipeline>().nullable(),
    /** How far it is, where the service itself executes it. */
    progress: jsonColumn<RunProgress>().nullable(),
    /** The progress of the last event, and when that was emitted. */
    announcedProgress: jsonColumn<RunProgress>().nullable(),
    announcedAt: p.datetime(3).nullable(),
    /** When a sweep last dealt with it. */
    launchedAt: p.datetime(3).nullable(),
    cancelRequestedAt: p.datetime(3).nullable(),
    startedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    /** When the program of its command was started, or may have been. */
    programStartedAt: p.datetime(3).nullable(),
    /** When its pipeline was dispatched, or may have been. */
    dispatchTriedAt: p.datetime(3).nullable(),
    /** The readable part of the id of its workflow; null for a run of a version whose ids had none. */
    workflowPath: p.text().nullable(),
    /** The one execution of a workflow that executes it. */
    engineRunId: p.text().nullable(),
    /** How its work ended, as its command, pipeline or external worker reported it, for its workflow. */
    reportedEnd: jsonColumn<RunOutcome>().nullable(),
    /** What the run deploys; null: it deploys nothing, or its work has not begun. */
    deploys: jsonColumn<DeployedContent>().nullable(),
    /** From status to status, oldest first; null for runs that were accepted before this was kept. */
    moves: jsonColumn<StoredMove[]>().nullable().defaultRaw("'[]'::jsonb"),
  },
});

export const FlowRunLockSchema = defineEntity({
  name: 'FlowRunLock',
  tableName: 'flow_run_lock',
  properties: {
    tenantId: p.uuid().primary(),
    executionId: p.uuid().primary(),
    lockKey: p.text().primary(),
    ticketId: p.text().nullable(),
    runId: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const FlowRunTallySchema = defineEntity({
  name: 'FlowRunTally',
  tableName: 'flow_run_tally',
  properties: {
    tenantId: p.uuid().primary(),
    ...tallied,
    isInternal: p.boolean(),
    isScheduled: p.boolean(),
    runs: p.bigint('string'),
    isSettled: p.boolean().default(false),
  },
});

/** The token with which the command of a run reports. */
export const RunTokenSchema = defineEntity({
  name: 'RunToken',
  tableName: 'run_token',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    /** SHA-256 of the secret. */
    tokenHash: p.text(),
    /** At the latest: it ends with its run. */
    expiresAt: p.datetime(3),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class RunToken extends RunTokenSchema.class {}
RunTokenSchema.setClass(RunToken);

export const FlowScheduleSchema = defineEntity({
  name: 'FlowSchedule',
  tableName: 'flow_schedule',
  properties: {
    ...tenantOwned,
    projectId: p.uuid().nullable(),
    name: p.text(),
    cron: p.text(),
    timezone: p.text(),
    payload: jsonColumn<Record<string, unknown>>(),
    schedulePath: p.text(),
    createdBy: p.text(),
    /** Ids of the people who made it: its runs count as theirs. */
    peopleIds: p.array().default([]),
    /** The only projects that the application token reached which made it; null: all. */
    limitedTo: p.array().columnType('uuid[]').nullable(),
    /** While it is, no run is started. */
    isPaused: p.boolean().default(false),
    /** When it was due last, if no run could be accepted then, and why. */
    refusedAt: p.datetime(3).nullable(),
    refusal: p.text().nullable(),
    /** Kept until the engine has deleted it, too. */
    deletedAt: p.datetime(3).nullable(),
    /** When the engine knew of the latest change. */
    syncedAt: p.datetime(3).nullable(),
  },
});
