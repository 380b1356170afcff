import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { environmentEntities } from './environments/environments.entities.ts';
import { connectionOptions, type DatabaseAccess, dropOutdatedClients, takeBackLostClients } from './pool.ts';
import { projectEntities } from './projects/projects.entities.ts';
import { rememberStatements } from './statements.ts';
import { releaseCandidateEntities } from './release-candidates/release-candidates.entities.ts';

const preparePool = (pool: Pool): void => {
  takeBackLostClients(pool);
  dropOutdatedClients(pool);
  rememberStatements(pool);
};

const ormOptions = (access: DatabaseAccess): Options => {
  const { connectionString, max, ...driverOptions } = connectionOptions(access);
  return {
    clientUrl: connectionString,
    pool: { min: 0, max },
    driverOptions: { ...driverOptions, onPoolCreated: preparePool },
    entities: [...projectEntities, ...environmentEntities, ...releaseCandidateEntities],
    extensions: [Migrator],
    ensureDatabase: false,
    forceUtcTimezone: true,
  };
};

export const connectOrm = (access: DatabaseAccess): MikroORM => new MikroORM(ormOptions(access));
