import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { environmentEntities } from './environments/environments.entities.ts';
import { connectionOptions, type DatabaseAccess, takeBackLostClients } from './pool.ts';
import { projectEntities } from './projects/projects.entities.ts';
import { releaseCandidateEntities } from './release-candidates/release-candidates.entities.ts';

const ormOptions = (access: DatabaseAccess): Options => {
  const { connectionString, max, ...driverOptions } = connectionOptions(access);
  return {
    clientUrl: connectionString,
    pool: { min: 0, max },
    driverOptions: { ...driverOptions, onPoolCreated: takeBackLostClients },
    entities: [...projectEntities, ...environmentEntities, ...releaseCandidateEntities],
    extensions: [Migrator],
    ensureDatabase: false,
    forceUtcTimezone: true,
  };
};

export const connectOrm = (access: DatabaseAccess): MikroORM => new MikroORM(ormOptions(access));
