import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { TrackerPlatform } from '../work-items/work-tracker.port.ts';
import type { NotedEvent, RequestStatus } from './callback-rules.ts';
import type { WantedReport } from './report-rules.ts';

export const WorkItemRequestSchema = defineEntity({
  name: 'WorkItemRequest',
  tableName: 'work_item_request',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    platform: p.text().$type<TrackerPlatform>(),
    /** Null until the tracker has confirmed the work item. */
    workItemKey: p.text().nullable(),
    workItemUrl: p.text().nullable(),
    title: p.text().nullable(),
    /** Null where a callback that made the request known did not name it. */
    taskType: p.text().nullable(),
    /** `domain:name`. */
    releaseCandidate: p.text().nullable(),
    repositoryIdentifier: p.text(),
    createdBy: p.text(),
    status: p.text().$type<RequestStatus>(),
    /** The newest execution. */
    executionId: p.text().nullable(),
    startedAt: p.datetime(3).nullable(),
    completedAt: p.datetime(3).nullable(),
    message: p.text().nullable(),
    error: p.text().nullable(),
    result: jsonColumn<Record<string, unknown>>().nullable(),
    /** By time, at most `HISTORY_MAX`; everything before follows from it. */
    history: jsonColumn<NotedEvent[]>().defaultRaw("'[]'::jsonb"),
    isItemClosed: p.boolean().default(false),
    /** When the work item was opened or closed last, as far as is known. */
    itemStateAt: p.datetime(3).nullable(),
    /** What the work item should show of a run. */
    report: jsonColumn<WantedReport>().nullable(),
    /** Revision of `report`; the work item shows that of `reportWrittenRevision`. */
    reportRevision: p.integer().default(0),
    reportWrittenRevision: p.integer().default(0),
    reportChangedAt: p.datetime(3).nullable(),
    reportError: p.text().nullable(),
    commentId: p.text().nullable(),
    /** When the work item is to be closed. */
    closeDueAt: p.datetime(3).nullable(),
  },
});

/** Executions that a request is found by. */
export const WorkItemRequestExecutionSchema = defineEntity({
  name: 'WorkItemRequestExecution',
  tableName: 'work_item_request_execution',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    executionId: p.text().primary(),
    requestId: p.uuid().primary(),
  },
});

/** Numbers of requests, kept by triggers. */
export const WorkItemRequestTallySchema = defineEntity({
  name: 'WorkItemRequestTally',
  tableName: 'work_item_request_tally',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    repositoryIdentifier: p.text().primary(),
    platform: p.text().$type<TrackerPlatform>().primary(),
    status: p.text().$type<RequestStatus>().primary(),
    /** Empty: not known. */
    taskType: p.text().primary(),
    requests: p.bigint('string'),
  },
});

/** Numbers of requests by who made them and by the month they were made in, kept by triggers. */
export const WorkItemRequestCountSchema = defineEntity({
  name: 'WorkItemRequestCount',
  tableName: 'work_item_request_count',
  properties: {
    tenantId: p.uuid().primary(),
    kind: p.text().$type<'creator' | 'month'>().primary(),
    /** Who made them, or a month of UTC such as `2026-11`. */
    value: p.text().primary(),
    status: p.text().$type<RequestStatus>().primary(),
    projectId: p.uuid().primary(),
    requests: p.bigint('string'),
  },
});
