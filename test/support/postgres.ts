import pg from 'pg';

let made = 0;

export interface TestDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** A database of its own, cloned from the migrated template. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = process.env.QS_TEST_PG_URL ?? '';
  const name = `qs_${process.env.JEST_WORKER_ID}_${process.pid}_${++made}`;
  await run(server, `create database ${name} template quayside_template`);
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
