import { type AnyEntity, type EntityClass, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { BindingDriver } from '../overrides/binding-driver.ts';
import { QuaysideDialect } from './dialect.ts';
import { createPool, type DatabaseAccess } from './pool.ts';

/**
 * The ORM over these entities; without any, for transactions of statements alone.
 * @param onError is told of connections that were lost.
 */
export const openOrm = (
  access: DatabaseAccess,
  entities: readonly (EntitySchema | EntityClass<AnyEntity>)[],
  onError: (error: Error) => void,
): MikroORM =>
  new MikroORM({
    driver: BindingDriver,
    // Only the database's name is read of it: connections come from the pool.
    clientUrl: access.databaseUrl,
    driverOptions: new QuaysideDialect(createPool({ ...access, isPipelined: true }, onError)),
    entities: [...entities],
    discovery: { warnWhenNoEntities: false },
    ensureDatabase: false,
    forceUtcTimezone: true,
  });
