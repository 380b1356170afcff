import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { environmentEntities } from './environments/environments.entities.ts';
import { projectEntities } from './projects/projects.entities.ts';
import { releaseCandidateEntities } from './release-candidates/release-candidates.entities.ts';

export interface DatabaseAccess {
  databaseUrl: string;
  /** The role that each connection takes on; absent: the one that logs in. */
  role?: string;
  poolSize?: number;
  /** Every statement that would write is refused. */
  isReadOnly?: boolean;
}

/** Connection settings for plain `pg`, too, where the ORM would only stand in the way. */
export const connectionOptions = ({ databaseUrl, role, poolSize = 10, isReadOnly = false }: DatabaseAccess) => ({
  connectionString: databaseUrl,
  max: poolSize,
  connectionTimeoutMillis: 5_000,
  application_name: 'quayside',
  options: [
    '-c timezone=UTC',
    ...(role === undefined ? [] : [`-c role=${role}`]),
    ...(isReadOnly ? ['-c default_transaction_read_only=on'] : []),
  ].join(' '),
});

const ormOptions = (access: DatabaseAccess): Options => {
  const { connectionString, max, ...driverOptions } = connectionOptions(access);
  return {
    clientUrl: connectionString,
    pool: { min: 0, max },
    driverOptions,
    entities: [...projectEntities, ...environmentEntities, ...releaseCandidateEntities],
    extensions: [Migrator],
    ensureDatabase: false,
    forceUtcTimezone: true,
  };
};

export const connectOrm = (access: DatabaseAccess): MikroORM => new MikroORM(ormOptions(access));
