import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../data/columns.ts';
import { tenantOwned } from '../data/tenant-owned.ts';
import type { Actor } from '../shared/actor.ts';
import type { FlowCategory } from './category-rules.ts';
import type { CheckKind, WantedCheck } from './check-rules.ts';
import type { WorkItemRef } from './flow-types.ts';
import type { ExecutionMode } from './new-runs.queries.ts';
import type { RunOutcome } from './run-moves.ts';
import type { RunStatus, DisplayStatus } from './run-status-rules.ts';

export const FlowCheckSchema = defineEntity({
  name: 'FlowCheck',
  tableName: 'flow_check',
  properties: {
    tenantId: p.uuid().primary(),
    runId: p.uuid().primary(),
    kind: p.text().$type<CheckKind>().primary(),
    wanted: jsonColumn<WantedCheck>(),
    revision: p.integer().default(1),
    writtenRevision: p.integer().default(0),
    error: p.text().nullable(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class FlowCheck extends FlowCheckSchema.class {}
FlowCheckSchema.setClass(FlowCheck);

export const FlowRunSchema = defineEntity({
  name: 'FlowRun',
  tableName: 'flow_run',
  properties: {
    ...tenantOwned,
    projectId: p.uuid().nullable(),
    environmentId: p.uuid().nullable(),
    parentId: p.uuid().nullable(),
    scheduleId: p.uuid().nullable(),
    rerunOfId: p.uuid().nullable(),
    rerunType: p.text().nullable(),
    hasWorkflow: p.boolean(),
    taskType: p.text(),
    category: p.text().$type<FlowCategory>(),
    flowPath: p.text(),
    executionMode: p.text().$type<ExecutionMode>(),
    isInternal: p.boolean().default(false),
    isScheduled: p.boolean().default(false),
    schedulePath: p.text().nullable(),
    externalId: p.text().nullable(),
    domain: p.text().nullable(),
    releaseName: p.text().nullable(),
    status: p.text().$type<RunStatus>(),
    displayStatus: p.text().$type<DisplayStatus>(),
    payload: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    result: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    error: p.text().nullable(),
    cicdRunId: p.text().nullable(),
    cicdRunUrl: p.text().nullable(),
    workItemType: p.text().nullable(),
    workItemKey: p.text().nullable(),
    workItem: jsonColumn<WorkItemRef>().nullable(),
    triggeredBy: p.text(),
    requestedBy: jsonColumn<Actor>(),
    requestId: p.text().nullable(),
    traceparent: p.text().nullable(),
    outputTail: p.text().nullable(),
    outputObject: p.text().nullable(),
    launchedAt: p.datetime(3).nullable(),
    cancelRequestedAt: p.datetime(3).nullable(),
    startedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    dispatchTriedAt: p.datetime(3).nullable(),
    engineRunId: p.text().nullable(),
    reportedEnd: jsonColumn<RunOutcome>().nullable(),
  },
});
export class FlowRun extends FlowRunSchema.class {}
FlowRunSchema.setClass(FlowRun);

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
export class FlowRunLock extends FlowRunLockSchema.class {}
FlowRunLockSchema.setClass(FlowRunLock);

export const FlowRunTallySchema = defineEntity({
  name: 'FlowRunTally',
  tableName: 'flow_run_tally',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().nullable(),
    status: p.text().$type<RunStatus>(),
    displayStatus: p.text().$type<DisplayStatus>(),
    category: p.text().$type<FlowCategory>(),
    taskType: p.text(),
    flowPath: p.text(),
    executionMode: p.text().$type<ExecutionMode>(),
    workItemType: p.text().nullable(),
    isInternal: p.boolean(),
    isScheduled: p.boolean(),
    runs: p.bigint('string'),
    isSettled: p.boolean().default(false),
  },
});
export class FlowRunTally extends FlowRunTallySchema.class {}
FlowRunTallySchema.setClass(FlowRunTally);

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
    deletedAt: p.datetime(3).nullable(),
    syncedAt: p.datetime(3).nullable(),
  },
});
export class FlowSchedule extends FlowScheduleSchema.class {}
FlowScheduleSchema.setClass(FlowSchedule);
