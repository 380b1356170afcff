import type { DeploymentLog, DeploymentPlace } from '../../deployments/deployment-log-cache.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { isSuccess } from '../../release-candidates/finalization-rules.ts';
import { invalidField } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { leadTimes } from './lead-times.ts';
import { type Interval, measure, type MeasuredDeployment, type Window, windowsOf } from './metrics-rules.ts';
import { type EnvironmentLabel, environmentLabels } from './metrics.queries.ts';

/** The most deployments of one answer. */
export const METRICS_DEPLOYMENTS_MAX = 5_000;

export interface MetricsQuery {
  domain?: string | undefined;
  environmentName?: string | undefined;
  since: Date;
  until: Date;
  interval: Interval;
}

/**
 * The measures of delivery of a project, by domain and environment, over windows of time and in total. Throws
 * `invalid_request` for a time with too many deployments.
 */
export async function deliveryMetrics(
  tx: Tx,
  history: History,
  log: DeploymentLog,
  projectId: string,
  { interval, domain, environmentName, since, until }: MetricsQuery,
) {
  const whole = { from: since.getTime(), to: until.getTime() };
  const measured = await measuredPlaces(tx, log, projectId, { domain, environmentName, whole });
  if (measured.reduce((sum, { deployments }) => sum + deployments.length, 0) > METRICS_DEPLOYMENTS_MAX) {
    throw invalidField(
      '#/query/since',
      `There are more than ${METRICS_DEPLOYMENTS_MAX} deployments in this time: choose a shorter one, a domain or an environment`,
    );
  }
  const times = await leadTimes(
    tx,
    history,
    log,
    measured.map(({ place }) => place),
    whole,
  );
  const windows = windowsOf(whole, interval);
  const domains = [...Map.groupBy(measured, ({ place }) => place.domain)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    domains: domains.map(([name, ofDomain]) => ({
      domain: name,
      environments: ofDomain.toSorted(inOrder).flatMap(({ environment, deployments }) => {
        const facts = deployments.map(
          (each): MeasuredDeployment => ({
            at: each.at,
            isSuccess: isSuccess(each.status),
            rolledBackAt: each.rolledBackAt,
            leadTimes: times.of(each),
          }),
        );
        const [total, ...parts] = measure(facts, [whole, ...windows]);
        if (!total) return [];
        return {
          environmentId: environment.id,
          name: environment.name,
          category: environment.category,
          total,
          windows: parts.map((part, index) => ({
            from: iso(windows[index]?.from),
            to: iso(windows[index]?.to),
            ...part,
          })),
        };
      }),
    })),
    missingChangelogs: times.missing,
    repository: history.freshness,
  };
}

interface Measured {
  place: DeploymentPlace;
  environment: EnvironmentLabel;
}

const inOrder = ({ environment: a }: Measured, { environment: b }: Measured): number =>
  a.orchestrationOrder - b.orchestrationOrder || (a.name < b.name ? -1 : 1);

const iso = (moment = 0): string => new Date(moment).toISOString();

/** The places of domains and environments that are asked for, with their deployments in a time. */
async function measuredPlaces(
  tx: Tx,
  log: DeploymentLog,
  projectId: string,
  { domain, environmentName, whole }: Pick<MetricsQuery, 'domain' | 'environmentName'> & { whole: Window },
) {
  const environments = new Map((await environmentLabels(tx, projectId)).map((each) => [each.id, each]));
  return log.places.flatMap((place) => {
    const environment = environments.get(place.environmentId);
    if (!environment || (domain !== undefined && place.domain !== domain)) return [];
    if (environmentName !== undefined && environment.name !== environmentName) return [];
    const deployments = place.deployments.filter(
      ({ at, status }) => status !== 'Cancelled' && at >= whole.from && at < whole.to,
    );
    return deployments.length === 0 ? [] : [{ place, environment, deployments }];
  });
}
