import type { Logger } from 'pino';
import { admittedTo, createHostTokenReader } from '../../domain/browser-sessions/host-tokens.ts';
import { StartRefused } from '../../domain/browser-sessions/browser-provider.port.ts';
import { localRecordings } from '../../domain/browser-sessions/local-recordings.ts';
import { replayPagesOf } from '../../domain/browser-sessions/replays.queries.ts';
import { newStartUrlKey } from '../../domain/browser-sessions/sealed-start-urls.ts';
import { SESSIONS, sessionKeyOf } from '../../domain/browser-sessions/session-announcements.ts';
import type { SessionRow } from '../../domain/browser-sessions/sessions.queries.ts';
import { readPublicTokenRing } from '../../domain/auth/public-token-ring.ts';
import { connectDatabase } from '../../domain/data/database.ts';
import { createFencedReads } from '../../domain/data/fenced-reads.ts';
import { connectOrm } from '../../domain/data/orm.ts';
import { objectStoreLocation } from '../../domain/objects/object-store-location.ts';
import { configuredAddresses } from '../../domain/outbound/outbound-addresses.ts';
import { systemActor, type TenantKey } from '../../domain/shared/actor.ts';
import { publicUrlOf } from '../../domain/shared/config.ts';
import type { HostConfig } from '../../domain/shared/host-config.ts';
import { unitOfWork } from '../../domain/unit-of-work.ts';
import {
  browserSessionContract,
  openStartUrlUpdate,
} from '../../workflows/browser-sessions/browser-session.contract.ts';
import { createCommitSignals } from '../../workflows/commit-signals.contract.ts';
import type { Launch } from '../../workflows/launch.ts';
import { isolatedBy } from '../adapters/analyzer-isolation.ts';
import { createObjectStore } from '../adapters/object-store.ts';
import { permittedConnector } from '../adapters/outbound-policy.ts';
import { databaseAccess, WORK_SETTINGS } from '../database-access.ts';
import type { Deps } from '../deps.ts';
import type { EncoderProgram } from './ffmpeg.ts';

/** Longer than an org takes to open its front door. */
const START_URL_MAX_MS = 45_000;

/**
 * What a host of browsers reaches: rows, recordings and the engine, and none of the keys of the service. It verifies tokens by
 * public keys, and is given what opens an org by a worker, sealed for this process.
 */
export async function createHostBackend({ config, launch, log }: { config: HostConfig; launch: Launch; log: Logger }) {
  const access = databaseAccess(config);
  const onConnectionLost = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const orm = connectOrm({ ...access, settings: WORK_SETTINGS }, onConnectionLost);
  const reads = createFencedReads({ ...access, slowPoolSize: config.DATABASE_SLOW_POOL_SIZE }, onConnectionLost);
  const system = connectDatabase({ ...access, role: `${config.DATABASE_APP_ROLE}_system` }, onConnectionLost);
  // Nothing that a host does is measured.
  const signals = { ...createCommitSignals(launch), happened: () => undefined };
  const actingAs: Deps['actingAs'] = (actor, context = {}) => unitOfWork(orm, { ...context, actor, signals });
  const objects = createObjectStore(objectStoreLocation(config));
  const startUrlKey = await newStartUrlKey();
  const ring = readPublicTokenRing(config.TOKEN_PUBLIC_KEYS);
  return {
    actingAs,
    reads,
    system: system.db,
    objects,
    log,
    outbound: { addresses: configuredAddresses(config), connectorFor: permittedConnector },
    startUrlKey: startUrlKey.publicKey,
    /** What reads pictures that pages have drawn sees nothing but its folder. */
    encoderOf: (program: string): EncoderProgram => ({
      program,
      apart: (folder) => isolatedBy({ folder, readable: [] }),
    }),
    recordings: localRecordings({
      objects,
      pagesOf: ({ tenantId, sessionId }) =>
        replayPagesOf(reads.as(systemActor({ tenantId, tenantSlug: '' }, SESSIONS)), sessionId),
    }),
    admitTo: (hostId: string) => admittedTo(hostId, createHostTokenReader(ring, publicUrlOf(config))),
    /** Asks the workflow of a session to have the front door of its org opened. Rejects with `StartRefused`. */
    async startUrlOf(hostId: string, { tenantId, tenantSlug }: TenantKey, session: SessionRow): Promise<URL> {
      const input = { tenantId, tenantSlug, ...sessionKeyOf(session) };
      const options = { args: [{ hostId }] as [{ hostId: string }], timeoutMs: START_URL_MAX_MS };
      const door = await launch.updateWithStart(browserSessionContract, input, openStartUrlUpdate, options);
      if ('refused' in door) throw new StartRefused(door.refused);
      return startUrlKey.open(door.sealed, session.id);
    },
    close: () => Promise.all([orm.close(true), reads.close(), system.close()]),
  };
}
