import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** A database of its own, cloned from the migrated template. */
export const testDatabase = (): Promise<TestDatabase> => newDatabase('template quayside_template');

/** A database of its own without any table. */
export const emptyDatabase = (): Promise<TestDatabase> => newDatabase('');

async function newDatabase(from: string): Promise<TestDatabase> {
  const server = process.env.QS_TEST_PG_URL ?? '';
  const name = `qs_${randomBytes(8).toString('hex')}`;
  await run(server, `create database ${name} ${from}`);
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
