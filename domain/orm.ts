import type { MikroORM } from '@mikro-orm/postgresql';
import { openOrm } from './kernel/data/open-orm.ts';
import type { DatabaseAccess } from './kernel/data/pool.ts';
import { entities } from './tables.ts';

/** The ORM over all entities. @param onError is told of connections that were lost. */
export const connectOrm = (access: DatabaseAccess, onError: (error: Error) => void = () => undefined): MikroORM =>
  openOrm(access, entities, onError);
