import type { History } from '../git/commit-graph-cache.ts';
import { rangeFacts } from '../git/range-facts.ts';
import { invalidField } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { resolveChanges } from './changelog.ts';
import { type Interval, measure, windowsOf } from './metrics-rules.ts';
import { type DeploymentFacts, deploymentFacts, installedBefore, type MetricsFilter } from './metrics.queries.ts';
import { directionOf, packageChanges } from './package-change-rules.ts';

/** The most deployments of one answer. */
export const METRICS_DEPLOYMENTS_MAX = 5_000;

export interface MetricsQuery extends MetricsFilter {
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
  projectId: string,
  { interval, ...query }: MetricsQuery,
) {
  const deployments = await deploymentFacts(tx, projectId, { ...query, limit: METRICS_DEPLOYMENTS_MAX + 1 });
  if (deployments.length > METRICS_DEPLOYMENTS_MAX) {
    throw invalidField(
      '#/query/since',
      `There are more than ${METRICS_DEPLOYMENTS_MAX} deployments in this time: choose a shorter one, a domain or an environment`,
    );
  }
  const { leadTimesOf, missing } = await leadTimes(tx, history, projectId, deployments, query);
  const whole = { from: query.since.getTime(), to: query.until.getTime() };
  const windows = windowsOf(whole, interval);
  const domains = [...Map.groupBy(deployments, ({ domain }) => domain)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    domains: domains.map(([domain, ofDomain]) => ({
      domain,
      environments: [...Map.groupBy(ofDomain, ({ environmentId }) => environmentId).values()]
        .toSorted(([a], [b]) => (a?.orchestrationOrder ?? 0) - (b?.orchestrationOrder ?? 0))
        .flatMap((own) => {
          const [first] = own;
          if (!first) return [];
          const measured = own.map((each) => ({ ...each, leadTimes: leadTimesOf(each) }));
          const [total, ...parts] = measure(measured, [whole, ...windows]);
          if (!total) return [];
          return {
            environmentId: first.environmentId,
            name: first.environmentName,
            category: first.category,
            total,
            windows: parts.map((part, index) => ({
              from: iso(windows[index]?.from),
              to: iso(windows[index]?.to),
              ...part,
            })),
          };
        }),
    })),
    missingChangelogs: missing,
    repository: history.freshness,
  };
}

const iso = (moment = 0): string => new Date(moment).toISOString();

const placeOf = ({ domain, environmentId }: { domain: string; environmentId: string }) => `${environmentId}\n${domain}`;

/**
 * Of each deployment the times from the dates of its commits. A commit counts when it comes to an environment first;
 * neither the first deployment of a domain there has any, as nothing tells what was there before, nor has one that was
 * taken back.
 */
async function leadTimes(
  tx: Tx,
  history: History,
  projectId: string,
  deployments: readonly DeploymentFacts[],
  query: MetricsQuery | Omit<MetricsQuery, 'interval'>,
) {
  const { since, domain, environmentName } = query;
  const before = await installedBefore(tx, projectId, { since, domain, environmentName });
  const installed = new Map(before.map((each) => [placeOf(each), each.packages]));
  const steps = deployments.flatMap((deployment) => {
    if (!deployment.isSuccess || deployment.rolledBackAt !== null) return [];
    const running = installed.get(placeOf(deployment));
    installed.set(placeOf(deployment), { ...running, ...deployment.packages });
    if (!running) return [];
    return [
      {
        deployment,
        changes: packageChanges(running, deployment.packages).filter((change) => directionOf(change) !== 'downgrade'),
      },
    ];
  });
  const resolved = await resolveChanges(
    tx,
    history,
    steps.flatMap(({ changes }) => changes),
  );
  const ranges = await rangeFacts(
    tx,
    history,
    resolved.flatMap(({ range }) => range ?? []),
  );
  const arrived = new Map<string, Set<number>>();
  const times = new Map<DeploymentFacts, number[]>();
  let at = 0;
  for (const { deployment, changes } of steps) {
    const own = resolved.slice(at, (at += changes.length));
    const known = arrived.get(placeOf(deployment)) ?? new Set();
    arrived.set(placeOf(deployment), known);
    const commits = new Set(own.flatMap(({ range }) => (range ? ranges.of(range).commits : [])));
    times.set(
      deployment,
      [...commits]
        .filter((commit) => !known.has(commit))
        .map((commit) => Math.max(0, deployment.at - history.graph.dateOf(commit) * 1_000)),
    );
    for (const commit of commits) known.add(commit);
  }
  return {
    leadTimesOf: (deployment: DeploymentFacts): readonly number[] => times.get(deployment) ?? [],
    missing: resolved.filter((change) => change.missing !== null).length,
  };
}
