import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { FirstTenants } from './first-tenants.ts';

export interface TestDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** A database of its own, cloned from the migrated template. */
export const testDatabase = (): Promise<TestDatabase> => newDatabase('template quayside_template');

/** A database with the two tenants of an app, which are the same in all such databases. */
export async function databaseWithTenants(): Promise<{ database: TestDatabase; tenants: FirstTenants }> {
  const database = await newDatabase('template quayside_with_tenants');
  return { database, tenants: JSON.parse(process.env.QS_TEST_TENANTS ?? '') as FirstTenants };
}

/** A database of its own without any table. */
export const emptyDatabase = (): Promise<TestDatabase> => newDatabase('');

async function newDatabase(from: string): Promise<TestDatabase> {
  const server = process.env.QS_TEST_PG_URL ?? '';
  const name = `qs_${randomBytes(8).toString('hex')}`;
  await run(server, `create database ${name} ${from} ${process.env.QS_TEST_CLONE ?? ''}`);
  return { url: `${server}/${name}`, drop: () => run(server, `drop database ${name} with (force)`) };
}

async function run(server: string, statement: string): Promise<void> {
  const client = new pg.Client(`${server}/postgres`);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
