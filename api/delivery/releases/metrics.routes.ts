import { z } from 'zod';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { deliveryMetrics, METRICS_DEPLOYMENTS_MAX } from '../../../domain/delivery/releases/measures/metrics.ts';
import { INTERVALS } from '../../../domain/delivery/releases/measures/metrics-rules.ts';
import { invalidField } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { DateTime, Name, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';
import { RepositoryFreshness } from '../changelogs.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;
const DAYS_MAX = 731;

const Seconds = z.int().nullable();
const measures = {
  deployments: z.object({
    successful: z.int(),
    failed: z.int(),
    rolledBack: z.int().meta({ description: 'Successful deployments that were rolled back' }),
    perDay: z.number(),
  }),
  leadTime: z.object({ medianSeconds: Seconds, p90Seconds: Seconds, commits: z.int() }),
  changeFailureRate: z.number().nullable(),
  timeToRestore: z.object({ medianSeconds: Seconds, failures: z.int(), restored: z.int() }),
};

const Metrics = z
  .object({
    repositoryIdentifier: z.string(),
    filters: z.object({
      domain: z.string().nullable(),
      environmentName: z.string().nullable(),
      since: Timestamp,
      until: Timestamp,
      window: z.enum(INTERVALS),
    }),
    domains: z.array(
      z.object({
        domain: z.string(),
        environments: z.array(
          z.object({
            environmentId: z.string(),
            name: z.string(),
            category: z.string(),
            total: z.object(measures),
            windows: z.array(z.object({ from: z.string(), to: z.string(), ...measures })),
          }),
        ),
      }),
    ),
    missingChangelogs: z
      .int()
      .meta({ description: 'Package changes without lead times, because their commits are unknown' }),
    repository: RepositoryFreshness,
  })
  .meta({ id: 'DeliveryMetrics' });

export const metricsRoutes = [
  defineRoute({
    operationId: 'getDeliveryMetrics',
    method: 'get',
    path: '/api/releases/metrics',
    group: 'Releases',
    summary: 'Get deployment frequency, lead time, change failure rate and time to restore',
    description: [
      'For each domain and environment: over the whole period, and per day, week (starting on Monday) or month in UTC. Cancelled deployments are not counted.',
      '- **Deployment frequency**: successful deployments; `perDay` divides them by the days in the window.\n' +
        '- **Lead time for changes**: from the date of a commit to its first deployment to the environment. The commits are those on the `added` side of the changelogs of the installed and upgraded packages. The first deployment of a domain to an environment has no lead times, nor has one that was rolled back. `medianSeconds` is the middle value, of an even number the mean of the middle two; `p90Seconds` is the value within which nine tenths lie (nearest rank).\n' +
        '- **Change failure rate**: deployments that failed, failed in part or were rolled back, divided by all deployments; null without any.\n' +
        '- **Time to restore**: from a failed deployment to the next successful one that was not rolled back, or from a deployment to its rollback. Consecutive failures count as one, in the window in which the first occurred; a failure that is not restored by `until` only counts in `failures`. `medianSeconds` as for lead times.',
      `The definitions follow DORA's four keys. Without \`since\`, covers the last ${DEFAULT_DAYS} days; at most ${DAYS_MAX} days and ${METRICS_DEPLOYMENTS_MAX} deployments.`,
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      domain: Name.optional(),
      environmentName: Name.optional(),
      since: DateTime.optional().meta({ description: 'Inclusive' }),
      until: DateTime.optional().meta({ description: 'Exclusive; default: now' }),
      window: z.enum(INTERVALS).default('week'),
    }),
    status: 200,
    response: Metrics,
    handle: (
      { query: { repositoryIdentifier, domain, environmentName, window, ...times } },
      {
        tx,
        now,
        adapters: {
          git: { commitGraphs },
          releases: { deploymentLogs },
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const until = times.until ?? now();
        const since = times.since ?? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS);
        const days = (until.getTime() - since.getTime()) / DAY_MS;
        if (days <= 0) throw invalidField('since', 'must be before until');
        if (days > DAYS_MAX) throw invalidField('since', `must be at most ${DAYS_MAX} days before until`);
        const history = await commitGraphs(work, project.id);
        const log = await deploymentLogs(work, project.id);
        return {
          repositoryIdentifier,
          filters: { domain: domain ?? null, environmentName: environmentName ?? null, since, until, window },
          ...(await deliveryMetrics(work, history, log, project.id, {
            domain,
            environmentName,
            since,
            until,
            interval: window,
          })),
        };
      }),
  }),
];
