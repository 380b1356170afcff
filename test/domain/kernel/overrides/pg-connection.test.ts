import { once } from 'node:events';
import { Socket } from 'node:net';
import pg from 'pg';
import { cancelStatement } from '../../../../domain/kernel/data/cancel-statement.ts';
import { pgConnection } from '../../../../domain/kernel/overrides/pg-connection.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(`${process.env.QS_TEST_PG_URL}/postgres`);
  await client.connect();
});
afterAll(() => client.end());

test('a connection knows the process that serves it, and how to cancel what that runs', async () => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(pgConnection(client).processID).toBe(rows[0]?.pid);
  const running = expect(client.query('select pg_sleep(600)')).rejects.toMatchObject({ code: '57014' });
  await cancelStatement(client);
  await running;
});

test('statements with a name are noted as prepared, and are prepared again when the note is gone', async () => {
  const { parsedStatements } = pgConnection(client).connection;
  const named = { name: 'one', text: 'select $1::int as one', values: [1] };
  await client.query(named);
  expect(parsedStatements.one).toBe(named.text);
  await client.query('deallocate one');
  delete parsedStatements.one;
  expect((await client.query(named)).rows).toEqual([{ one: 1 }]);
});

test('it writes to a socket that can be held, and tells of errors of the server', async () => {
  const { connection } = pgConnection(client);
  expect(connection.stream).toBeInstanceOf(Socket);
  const told = once(connection, 'errorMessage');
  await expect(client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
  expect(await told).toMatchObject([{ message: 'division by zero' }]);
});
