import type { Config } from '../domain/kernel/settings/config.ts';

/** How the processes of the service reach the database. */
export const databaseAccess = (config: Config) => ({
  databaseUrl: config.DATABASE_URL,
  role: config.DATABASE_APP_ROLE,
  poolSize: config.DATABASE_POOL_SIZE,
});

/** How browser hosts reach the database: as a role that can run their statements alone. */
export const hostDatabaseAccess = (config: Config) => ({
  ...databaseAccess(config),
  role: `${config.DATABASE_APP_ROLE}_browsers`,
});

/** Settings of connections for transactions: a wait for a lock ends after longer than a sound transaction holds one. */
export const WORK_SETTINGS = { lock_timeout: '20s' };
