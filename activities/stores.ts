import type { MikroORM } from '@mikro-orm/postgresql';
import { localRecordings } from '../domain/review/browser-sessions/recordings/local-recordings.ts';
import { replayPagesOf } from '../domain/review/browser-sessions/recordings/replays.queries.ts';
import { SESSIONS } from '../domain/review/browser-sessions/session-announcements.ts';
import { databaseDependency } from '../domain/kernel/data/database-dependency.ts';
import { createFencedReads } from '../domain/kernel/data/fenced-reads.ts';
import type { DatabaseAccess } from '../domain/kernel/data/pool.ts';
import { objectStoreLocation } from '../domain/kernel/objects/object-store-location.ts';
import { laneNames } from '../domain/events/webhooks/lane-names.queries.ts';
import { systemActor, type TenantKey } from '../domain/kernel/shared/actor.ts';
import type { Config } from '../domain/kernel/settings/config.ts';
import type { Outages, ReportAway } from '../domain/kernel/system/outages.ts';
import { createObjectStore } from './adapters/objects/object-store.ts';
import { objectsDependency } from './adapters/objects/objects-dependency.ts';
import { WORK_SETTINGS } from './database-access.ts';

export interface StoresParts {
  config: Config;
  /** With the role that the process acts as. */
  access: DatabaseAccess;
  openOrm: (access: DatabaseAccess, onConnectionLost: ReportAway) => MikroORM;
  outages: Outages;
}

/** What the service and browser hosts keep things in. Connects to nothing yet. */
export function connectStores({ config, access, openOrm, outages }: StoresParts) {
  const onConnectionLost = outages.reporter('postgresql');
  const orm = openOrm({ ...access, settings: WORK_SETTINGS }, onConnectionLost);
  const reads = createFencedReads({ ...access, slowPoolSize: config.DATABASE_SLOW_POOL_SIZE }, onConnectionLost);
  const location = objectStoreLocation(config);
  const objects = createObjectStore(location, outages.reporter('objects'));
  const dependencies = [
    databaseDependency(orm.em.getKysely<never>()),
    ...(location.kind === 's3' ? [objectsDependency(objects)] : []),
  ];
  outages.watch(...dependencies);
  return {
    orm,
    reads,
    objects,
    dependencies,
    laneNames: (tenant: TenantKey, webhookIds: readonly string[]) =>
      laneNames(reads.as(systemActor(tenant, 'webhook-lane')), webhookIds),
    recordings: localRecordings({
      objects,
      pagesOf: ({ tenantId, sessionId }) =>
        replayPagesOf(reads.as(systemActor({ tenantId, tenantSlug: '' }, SESSIONS)), sessionId),
    }),
    close() {
      outages.stop();
      return Promise.all([orm.close(true), reads.close()]);
    },
  };
}
