import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { HOOKS } from '../domain/areas.ts';
import type { FencedReads } from '../domain/kernel/data/fenced-reads.ts';
import type { DatabaseAccess } from '../domain/kernel/data/pool.ts';
import { createChangeNotifier } from '../domain/kernel/changes/change-notifier.ts';
import { createEncryption, type Encryption } from '../domain/kernel/encryption/encryption.ts';
import { type Keys, loadKeys } from '../domain/kernel/encryption/keys.ts';
import type { ObjectStore } from '../domain/kernel/objects/object-store.port.ts';
import { configuredAddresses, type OutboundAddresses } from '../domain/kernel/outbound/outbound-addresses.ts';
import { type Config, publicUrlOf } from '../domain/kernel/settings/config.ts';
import type { Actor } from '../domain/kernel/shared/actor.ts';
import { happeningEntry } from '../domain/kernel/system/happening-log-rules.ts';
import type { Dependency, Outages, ReportAway } from '../domain/kernel/system/outages.ts';
import { connectOrm } from '../domain/orm.ts';
import { type CommitSignals, type UnitOfWork, unitOfWork, type WorkContext } from '../domain/unit-of-work.ts';
import { createCommitSignals } from '../workflows/commit-signals.contract.ts';
import type { Launch } from '../workflows/launch.ts';
import { databaseAccess } from './database-access.ts';
import { connectStores } from './stores.ts';

/** What the parts of areas are made of; made once per process. */
export interface Base {
  config: Config;
  /** Connections with the role of the application, to which row-level security applies. */
  access: DatabaseAccess;
  orm: MikroORM;
  reads: FencedReads;
  /** A unit of work in the actor's tenant. */
  actingAs: (actor: Actor, context?: Omit<WorkContext, 'actor' | 'signals'>) => UnitOfWork;
  launch: Launch;
  signals: CommitSignals;
  keys: Keys;
  encryption: Encryption;
  objects: ObjectStore;
  /** Which addresses outgoing requests may go to. */
  outbound: OutboundAddresses;
  /** The address under which clients reach the service, for links. */
  publicUrl: string;
  log: Logger;
  now: () => Date;
  outages: Outages;
  /** Told of database connections that were lost or refused. */
  onConnectionLost: ReportAway;
}

/** What an area adds to a process. */
export interface Made<Parts> {
  parts: Parts;
  close?: () => Promise<unknown>;
}

export interface BaseParts {
  config: Config;
  launch: Launch;
  log: Logger;
  outages: Outages;
  /** Measures what transactions announced. Returns at once and never throws. */
  measure: CommitSignals['happened'];
}

export interface OpenBase {
  base: Base;
  /** Recordings in the object store. */
  localRecordings: ReturnType<typeof connectStores>['recordings'];
  dependencies: readonly Dependency[];
  close: () => Promise<unknown>;
}

/** Connects to nothing yet: connections are made when they are needed. */
export function openBase({ config, launch, log, outages, measure }: BaseParts): OpenBase {
  const access = databaseAccess(config);
  const stores = connectStores({ config, access, openOrm: connectOrm, outages });
  const { orm, reads, objects } = stores;
  const notifier = createChangeNotifier(access, outages.reporter('postgresql'));
  const signals: CommitSignals = {
    ...createCommitSignals(launch, stores.laneNames),
    changed: notifier.changed,
    happened(tenant, events) {
      measure(tenant, events);
      for (const event of events) {
        const entry = happeningEntry(event, tenant.tenantSlug);
        if (entry) log[entry.level](entry.members, entry.said);
      }
    },
  };
  const keys = loadKeys(config);
  return {
    base: {
      config,
      access,
      orm,
      reads,
      actingAs: (actor, context = {}) => unitOfWork(orm, { hooks: HOOKS, ...context, actor, signals }),
      launch,
      signals,
      keys,
      encryption: createEncryption(keys.encryptionKeys),
      objects,
      outbound: configuredAddresses(config),
      publicUrl: publicUrlOf(config),
      log,
      now: () => new Date(),
      outages,
      onConnectionLost: outages.reporter('postgresql'),
    },
    localRecordings: stores.recordings,
    dependencies: stores.dependencies,
    async close() {
      await notifier.close();
      await stores.close();
    },
  };
}
