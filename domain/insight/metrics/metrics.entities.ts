import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { AiMeasure } from './ai-usage-rules.ts';
import type { MetricType } from './series-rules.ts';

/** A series that has windows; forgotten when the last of them is. */
export const MetricSeriesSchema = defineEntity({
  name: 'MetricSeries',
  tableName: 'metric_series',
  properties: {
    tenantId: p.uuid().primary(),
    /** Id of the series: a digest of its name, type and labels. */
    series: p.uuid().primary(),
    name: p.text(),
    type: p.text().$type<MetricType>(),
    labels: jsonColumn<Record<string, string>>(),
    firstDay: p.date(),
  },
});

/** How many series of a tenant were new on a day. */
export const MetricSeriesDaySchema = defineEntity({
  name: 'MetricSeriesDay',
  tableName: 'metric_series_day',
  properties: {
    tenantId: p.uuid().primary(),
    day: p.date().primary(),
    created: p.integer().default(0),
    /** When the first event was refused because there were too many. */
    limitedAt: p.datetime(3).nullable(),
  },
});

/** What happened to a series within five minutes; kept for 48 hours, and until the store has it. */
export const MetricWindowSchema = defineEntity({
  name: 'MetricWindow',
  tableName: 'metric_window',
  properties: {
    tenantId: p.uuid().primary(),
    series: p.uuid().primary(),
    endsAt: p.datetime(3).primary(),
    /** Time of the last event. */
    lastAt: p.datetime(3),
    last: p.double(),
    count: p.double(),
    sum: p.double(),
    /** Counts changes: what was sent is the state of one of them. */
    revision: p.integer().default(1),
    /** Whether the store has the present state. */
    isSent: p.boolean().default(false),
    /** When the store last took a state of it. */
    sentAt: p.datetime(3).nullable(),
  },
});

/** What tools reported of their use of AI, added up by day (UTC). */
export const AiUsageDaySchema = defineEntity({
  name: 'AiUsageDay',
  tableName: 'ai_usage_day',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    day: p.date().primary(),
    measure: p.text().primary().$type<AiMeasure>(),
    amount: p.double(),
  },
});
