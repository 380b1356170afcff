import type { Logger } from 'pino';
import { admittedTo, createHostTokenReader } from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { StartRefused } from '../../domain/review/browser-sessions/browser-provider.port.ts';
import { newStartUrlKey } from '../../domain/review/browser-sessions/hosts/sealed-start-urls.ts';
import { sessionKeyOf } from '../../domain/review/browser-sessions/session-announcements.ts';
import type { SessionRow } from '../../domain/review/browser-sessions/sessions.queries.ts';
import { readPublicTokenRing } from '../../domain/kernel/encryption/public-token-ring.ts';
import { connectDatabase } from '../../domain/kernel/data/database.ts';
import { createChangeNotifier } from '../../domain/kernel/changes/change-notifier.ts';
import { openOrm } from '../../domain/kernel/data/open-orm.ts';
import { configuredAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import type { TenantKey } from '../../domain/kernel/shared/actor.ts';
import { publicUrlOf } from '../../domain/kernel/settings/config.ts';
import type { HostConfig } from '../../domain/kernel/settings/host-config.ts';
import type { Outages } from '../../domain/kernel/system/outages.ts';
import { unitOfWork } from '../../domain/unit-of-work.ts';
import {
  browserSessionContract,
  openStartUrlUpdate,
} from '../../workflows/review/browser-sessions/browser-session.contract.ts';
import type { Launch } from '../../workflows/launch.ts';
import { signalLanes } from '../../workflows/events/webhooks/webhook-lane.contract.ts';
import { isolatedBy } from '../adapters/isolated/isolation.ts';
import { permittedConnector } from '../adapters/outbound/outbound-policy.ts';
import { hostDatabaseAccess } from '../database-access.ts';
import type { Deps } from '../deps.ts';
import { connectStores, type StoresParts } from '../stores.ts';
import type { EncoderProgram } from './recording/ffmpeg.ts';

/** Heartbeats come one after another; one more is for the end. */
const HOST_CONNECTIONS = 2;
/** Longer than an org takes to open its front door. */
const START_URL_MAX_MS = 45_000;

export interface HostBackendParts {
  config: HostConfig;
  launch: Launch;
  log: Logger;
  outages: Outages;
}

/**
 * What a browser host reaches: the rows that its role of the database opens, recordings and the engine, and none of the
 * keys of the service. It verifies tokens by public keys, and is given what opens an org by a worker, sealed for this process.
 */
export async function createHostBackend({ config, launch, log, outages }: HostBackendParts) {
  const access = hostDatabaseAccess(config);
  const onConnectionLost = outages.reporter('postgresql');
  const openOrmOfStatements: StoresParts['openOrm'] = (own, onError) => openOrm(own, [], onError);
  const stores = connectStores({ config, access, openOrm: openOrmOfStatements, outages });
  const hosts = connectDatabase({ ...access, poolSize: HOST_CONNECTIONS }, onConnectionLost);
  const notifier = createChangeNotifier(access, onConnectionLost);
  const signals = { webhook: signalLanes(launch, stores.laneNames), changed: notifier.changed };
  const actingAs: Deps['actingAs'] = (actor, context = {}) =>
    unitOfWork(stores.orm, { ...context, actor, signals, auditBy: 'audit_append_of_browsers' });
  const startUrlKey = await newStartUrlKey();
  const ring = readPublicTokenRing(config.TOKEN_PUBLIC_KEYS);
  return {
    actingAs,
    reads: stores.reads,
    /** For the row of the host. */
    hosts: hosts.db,
    objects: stores.objects,
    log,
    outbound: { addresses: configuredAddresses(config), connectorFor: permittedConnector },
    startUrlKey: startUrlKey.publicKey,
    /** What reads pictures that pages have drawn sees nothing but its folder. */
    encoderOf: (program: string): EncoderProgram => ({
      program,
      apart: (folder) => isolatedBy({ folder, readable: [] }),
    }),
    recordings: stores.recordings,
    admitTo: (hostId: string) => admittedTo(hostId, createHostTokenReader(ring, publicUrlOf(config))),
    /** Asks the workflow of a session to have the front door of its org opened. Rejects with `StartRefused`. */
    async startUrlOf(hostId: string, { tenantId, tenantSlug }: TenantKey, session: SessionRow): Promise<URL> {
      const input = { tenantId, tenantSlug, ...sessionKeyOf(session) };
      const options = { args: [{ hostId }] as [{ hostId: string }], timeoutMs: START_URL_MAX_MS };
      const door = await launch.updateWithStart(browserSessionContract, input, openStartUrlUpdate, options);
      if ('refused' in door) throw new StartRefused(door.refused);
      return startUrlKey.open(door.sealed, session.id);
    },
    async close() {
      await notifier.close();
      await Promise.all([stores.close(), hosts.close()]);
    },
  };
}
