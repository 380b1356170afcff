import { z } from 'zod';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { deliveryMetrics, METRICS_DEPLOYMENTS_MAX } from '../../domain/releases/metrics.ts';
import { INTERVALS } from '../../domain/releases/metrics-rules.ts';
import { invalidField } from '../../domain/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { DateTime, Name, RepositoryIdentifier, Timestamp } from '../http/parameters.ts';
import { RepositoryFreshness } from '../http/changelogs.ts';

const DAY_MS = 86_400_000;
const STANDARD_DAYS = 90;
const DAYS_MAX = 731;

const Seconds = z.int().nullable();
const measures = {
  deployments: z.object({
    successful: z.int(),
    failed: z.int(),
    rolledBack: z.int().meta({ description: 'Of the successful ones' }),
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
      .meta({ description: 'Changes of packages whose commits are not known: they have no lead times' }),
    repository: RepositoryFreshness,
  })
  .meta({ id: 'DeliveryMetrics' });

export const metricsRoutes = [
  defineRoute({
    operationId: 'getDeliveryMetrics',
    method: 'get',
    path: '/api/releases/metrics',
    group: 'Releases',
    summary:
      'Deployment frequency, lead time, change failure rate and time to restore, by domain, environment and window',
    description: [
      'Of each domain and environment, over the whole time and over each day, week (from Monday) or month of UTC in it. Cancelled deployments are left out.',
      '- **Deployment frequency**: successful deployments; `perDay` divides them by the length of the window.\n' +
        '- **Lead time**: from the date of a commit to the deployment by which it first came to the environment; the commits are those of the changelogs of the packages that were installed or upgraded. The first deployment of a domain to an environment has none, nor has one that was taken back.\n' +
        '- **Change failure rate**: deployments that failed, wholly or in part, or were taken back, by all.\n' +
        '- **Time to restore**: from a failed deployment to the next success that was not taken back; from a deployment that was taken back to when it was. Failed ones in a row are one failure. It counts in the window in which it began; what is not restored by `until` is in `failures` only.',
      `Definitions follow DORA's four keys. Without \`since\`, the last ${STANDARD_DAYS} days; at most ${DAYS_MAX} days and ${METRICS_DEPLOYMENTS_MAX} deployments.`,
    ].join('\n\n'),
    roles: ANY_ROLE,
    query: z.strictObject({
      repositoryIdentifier: RepositoryIdentifier,
      domain: Name.optional(),
      environmentName: Name.optional(),
      since: DateTime.optional().meta({ description: 'Included' }),
      until: DateTime.optional().meta({ description: 'Excluded; now when absent' }),
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
        },
      },
    ) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        const until = times.until ?? now();
        const since = times.since ?? new Date(until.getTime() - STANDARD_DAYS * DAY_MS);
        const days = (until.getTime() - since.getTime()) / DAY_MS;
        if (days <= 0) throw invalidField('since', 'must be before until');
        if (days > DAYS_MAX) throw invalidField('since', `must be at most ${DAYS_MAX} days before until`);
        const history = await commitGraphs(work, project.id);
        return {
          repositoryIdentifier,
          filters: { domain: domain ?? null, environmentName: environmentName ?? null, since, until, window },
          ...(await deliveryMetrics(work, history, project.id, {
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
