import { MikroORM } from '@mikro-orm/postgresql';
import { BindingDriver } from './binding-driver.ts';
import { QuaysideDialect } from './dialect.ts';
import { createPool, type DatabaseAccess } from './pool.ts';
import { entities } from './tables.ts';

/** @param onError is told of connections that were lost. */
export const connectOrm = (access: DatabaseAccess, onError: (error: Error) => void = () => undefined): MikroORM =>
  new MikroORM({
    driver: BindingDriver,
    // Only the database's name is read of it: connections come from the pool.
    clientUrl: access.databaseUrl,
    driverOptions: new QuaysideDialect(createPool({ ...access, isPipelined: true }, onError)),
    entities: [...entities],
    ensureDatabase: false,
    forceUtcTimezone: true,
  });
