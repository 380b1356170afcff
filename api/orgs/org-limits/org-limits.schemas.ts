import { z } from 'zod';
import { DASHBOARD_RANGES } from '../../../domain/orgs/org-limits/dashboard-rules.ts';
import { LIMIT_LEVELS } from '../../../domain/orgs/org-limits/limit-level-rules.ts';
import { ORG_LIMIT_STATUSES } from '../../../domain/orgs/org-limits/limit-status-rules.ts';
import { Timestamp } from '../../http/parameters.ts';

const UsagePct = z.number().meta({ description: 'Per cent with two decimals; may pass 100', example: 91.25 });
const AlertLevel = z.enum(LIMIT_LEVELS).meta({
  description:
    'By `metricsAlertConfig.orgLimits` of the projects that name the org (`{warning, critical, overrides {<limit>: {warning, critical}}, ignore[]}`), the strictest of several; default: warning from 75, critical from 90 per cent',
});
const ForecastAt = Timestamp.nullable().meta({
  description:
    'When it will be used up: where a least-squares line through the samples since the last fall (of at most 24 hours, at least six) reaches `max`. Null when it does not rise, or not within the window of the limit: an hour for names that begin with Hourly, a day for Daily, else 90 days',
});

export const OrgLimit = z
  .object({
    name: z.string().meta({ example: 'DailyApiRequests' }),
    max: z.number(),
    used: z.number(),
    remaining: z.number().meta({ description: 'Negative when more was used than allowed' }),
    usagePct: UsagePct,
    alertLevel: AlertLevel,
    forecastAt: ForecastAt,
    sampledAt: Timestamp,
  })
  .meta({ id: 'OrgLimit' });

export const OrgLimitSummary = z
  .object({
    orgUsername: z.string(),
    environmentLabels: z.array(z.object({ name: z.string(), repositoryIdentifier: z.string() })).meta({
      description: 'Environments that name it as their org or dev hub',
    }),
    status: z.enum(ORG_LIMIT_STATUSES).meta({
      description:
        '`ok`, `warning`, `critical`: the highest level of its limits. `stale`: the last answer is older than an hour or, where orgs are polled less often, than two intervals. `unreachable`: the last poll failed. `auth_failed`: the org refused its credential, and is not polled until that is renewed. `pending`: not polled yet',
    }),
    lastPolledAt: Timestamp.nullable().meta({ description: 'When the org last answered' }),
    worstLimit: z
      .object({ name: z.string(), usagePct: UsagePct, alertLevel: AlertLevel, forecastAt: ForecastAt })
      .nullable()
      .meta({
        description:
          'Limit of the highest level, and of several the fullest; limits that all projects ignore do not count',
      }),
  })
  .meta({ id: 'OrgLimitSummary' });

export const Range = z.enum(DASHBOARD_RANGES).meta({
  description: 'Days of UTC; `last_7_days`: today and the six before',
});

export const OrgLimitDashboard = z
  .object({
    meta: z.object({
      range: Range,
      rangeLabel: z.string(),
      start: Timestamp,
      end: Timestamp.meta({ description: 'Exclusive' }),
      orgUsername: z.string(),
      environmentName: z.string().nullable(),
      repositoryIdentifier: z.string().nullable(),
      generatedAt: Timestamp,
      polledAt: Timestamp.nullable().meta({
        description:
          'When the org last answered; null: not yet. With `forceRefresh`, a time before the request: the last forced poll is less than a minute old, or the org did not answer',
      }),
      cached: z.boolean().meta({ description: 'Made for an earlier request of the last 60 seconds' }),
      queryDurationMs: z.number().meta({ description: 'What it took to read and make it, once' }),
      refreshError: z.string().nullable().meta({
        description: 'Why the org could not be polled for `forceRefresh`; the data are the last ones',
      }),
    }),
    timeSeries: z
      .array(
        z.object({
          limitName: z.string(),
          dataPoints: z.array(z.object({ timestamp: Timestamp, usagePct: UsagePct })),
        }),
      )
      .meta({
        description:
          'At most 300 points a limit, each the highest usage of its part of the range, with the time at which it was found; none for limits whose `max` is 0',
      }),
    snapshot: z.array(OrgLimit),
    alerts: z.array(OrgLimit).meta({ description: 'Those of the snapshot whose level is not `ok`' }),
  })
  .meta({ id: 'OrgLimitDashboard' });
