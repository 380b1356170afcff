import type { Logger } from 'pino';
import { type Actor, systemActor, type TenantKey, tenantOf } from '../../kernel/shared/actor.ts';
import { batchedPerKey } from '../../kernel/queues/batched.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { IngestMetrics } from './ingest.mutations.ts';
import { versionLeadTimes } from './lead-times.queries.ts';
import {
  deploymentIn,
  type Happening,
  isMeasured,
  leadTimeMetric,
  type OwnMetric,
  ownMetricsOf,
} from './own-metric-rules.ts';

/** Rows of metrics are changed by a few transactions however many events there are. */
const REST_MS = 200;

export interface OwnMetricsDeps {
  intake: IngestMetrics;
  actingAs: (actor: Actor) => UnitOfWork;
  /** There is something for the store. */
  signalLane: () => void;
  now: () => Date;
  log: Logger;
}

export interface OwnMetrics {
  /** Measures what happened in a transaction, after its commit. Returns at once and never throws. */
  measure: (tenant: TenantKey, happened: readonly Happening[]) => void;
  /** Resolves when everything that was measured is taken in. */
  settled: () => Promise<void>;
}

/**
 * The metrics of the service's own: deployments, their lead times, durations of flows, totals of analyses and tokens of
 * models go through the same ingest as those of clients. A process that is killed loses those of its last moment.
 */
export function createOwnMetrics({ intake, actingAs, signalLane, now, log }: OwnMetricsDeps): OwnMetrics {
  const take = batchedPerKey(
    ({ tenantId }: TenantKey) => tenantId,
    async (tenant, batches: (readonly Happening[])[]) => {
      const uow = actingAs(systemActor(tenant, 'metrics'));
      const announced = batches.flat();
      const at = now().getTime();
      const events = announced.flatMap((one) => ownMetricsOf(one, at));
      events.push(...(await leadTimes(uow, announced, at)));
      if (events.length > 0) {
        const { rejected, errors } = await intake.ingestOwn(uow, tenant.tenantId, events);
        if (rejected > 0) log.warn({ tenant: tenant.tenantId, rejected, errors }, 'own metrics were rejected');
        signalLane();
      }
      return batches.map(() => undefined);
    },
    { restMs: REST_MS },
  );
  const open = new Set<Promise<void>>();
  return {
    measure(tenant, happened) {
      const measured = happened.filter(isMeasured);
      if (measured.length === 0) return;
      const taken: Promise<void> = take(tenantOf(tenant), measured)
        .catch((error: unknown) => log.warn({ err: error, tenant: tenant.tenantId }, 'own metrics were not taken in'))
        .finally(() => open.delete(taken));
      open.add(taken);
    },
    settled: async () => void (await Promise.all(open)),
  };
}

async function leadTimes(uow: UnitOfWork, announced: readonly Happening[], at: number): Promise<OwnMetric[]> {
  const deployments = new Map(
    announced.flatMap((one) => {
      const id = deploymentIn(one);
      return id === undefined ? [] : [[id, one] as const];
    }),
  );
  if (deployments.size === 0) return [];
  const found = await uow((tx) => versionLeadTimes(tx, [...deployments.keys()]));
  return found.flatMap(({ deploymentId, leadMs }) => {
    const deployment = deployments.get(deploymentId);
    return deployment ? [leadTimeMetric(deployment, leadMs, at)] : [];
  });
}
