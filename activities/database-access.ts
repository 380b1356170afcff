import type { Config } from '../domain/shared/config.ts';

/** How the processes of the service reach the database. */
export const databaseAccess = (config: Config) => ({
  databaseUrl: config.DATABASE_URL,
  role: config.DATABASE_APP_ROLE,
  poolSize: config.DATABASE_POOL_SIZE,
});
