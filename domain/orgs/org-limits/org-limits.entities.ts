import { defineEntity, p } from '@mikro-orm/core';
import type { CrmFailure } from '../crm/crm-platform.port.ts';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { LimitState, WorstLimit } from './limit-state-rules.ts';

/** Why the last poll failed. */
export type PollFailure = Pick<CrmFailure, 'kind' | 'message' | 'hint'>;

/** When an org is polled, and what the last poll found. */
export const OrgLimitStateSchema = defineEntity({
  name: 'OrgLimitState',
  tableName: 'org_limit_state',
  properties: {
    tenantId: p.uuid().primary(),
    orgId: p.uuid().primary(),
    dueAt: p.datetime(3).defaultRaw('now()'),
    /** Counts claims: only the last one may record. */
    claims: p.integer().default(0),
    /** While somebody polls. */
    leaseUntil: p.datetime(3).nullable(),
    /** When somebody last asked for a poll at once. */
    forcedAt: p.datetime(3).nullable(),
    attemptedAt: p.datetime(3).nullable(),
    /** When the org last answered. */
    polledAt: p.datetime(3).nullable(),
    /** In a row. */
    failures: p.integer().default(0),
    failure: jsonColumn<PollFailure>().nullable(),
    /** Samples refer to limits by their place in this list, which only grows. */
    limits: jsonColumn<LimitState[]>().defaultRaw("'[]'::jsonb"),
    worst: jsonColumn<WorstLimit>().nullable(),
  },
});

/** One answer of an org; kept for 8 days. Null where it did not have the limit. */
export const OrgLimitSampleSchema = defineEntity({
  name: 'OrgLimitSample',
  tableName: 'org_limit_sample',
  properties: {
    tenantId: p.uuid().primary(),
    orgId: p.uuid().primary(),
    sampledAt: p.datetime(3).primary(),
    used: p.array().columnType('bigint[]'),
    max: p.array().columnType('bigint[]'),
  },
});

/** The highest usage of each limit in an hour, in hundredths of a per cent; kept for 400 days. */
export const OrgLimitHourSchema = defineEntity({
  name: 'OrgLimitHour',
  tableName: 'org_limit_hour',
  properties: {
    tenantId: p.uuid().primary(),
    orgId: p.uuid().primary(),
    hour: p.datetime(3).primary(),
    peaks: p.array().columnType('int[]'),
  },
});
