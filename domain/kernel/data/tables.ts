import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { Kysely } from 'kysely';
import type { Cell } from './columns.ts';

type Inferred<Entity extends { name: string }> = InferKyselyDB<
  Entity,
  { tableNamingStrategy: 'table'; columnNamingStrategy: 'property' }
>;
/** The tables of entities, by their name; columns by the entity's property. */
export type TablesOf<Entities extends readonly { name: string }[]> = {
  [T in keyof Inferred<Entities[number]>]: {
    [C in keyof Inferred<Entities[number]>[T]]: Cell<Inferred<Entities[number]>[T][C]>;
  };
};

/** Every table of the schema: each area adds its own, in its `area.ts`. */
export interface Tables {}

/** What statements are built on and run by: a transaction, or connections that may write. */
export type Database = Kysely<Tables>;
/**
 * The reading part of it, which both a transaction and fenced reads offer. (Kysely's `ReadonlyKysely` declares what it
 * lacks with other types, so that a `Kysely` does not pass for one.)
 */
export type ReadDatabase = Pick<
  Database,
  'selectFrom' | 'selectNoFrom' | 'with' | 'withRecursive' | 'fn' | 'case' | 'executeQuery' | 'getExecutor'
>;
