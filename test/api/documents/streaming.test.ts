import { connect } from 'node:net';
import { sql } from 'kysely';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually } from '../../support/worker.ts';

/** Documents of 20 kB each: the buffers of both ends hold far less than all of them. */
const DOCUMENTS = 3_000;
const PATH = '/api/doc-store/collections/streamed';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.as(app.owner).post(201, '/api/doc-store/collections', { name: 'streamed' });
  await app.sql(
    `insert into document
     select ?, 'doc', 'streamed', lpad(n::text, 6, '0'), 1, jsonb_build_object('n', n, 'text', repeat('x', 20000)), 20000, now(), now(), 'test'
     from generate_series(1, ?::int) n`,
    [app.tenant.id, DOCUMENTS],
  );
});
afterEach(() => app.sql('delete from document; delete from document_collection'));

/** Asks for the whole collection and reads only its beginning. */
async function beginReading(): Promise<{ socket: ReturnType<typeof connect>; goOn: () => Promise<string> }> {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' });
  const pieces: Buffer[] = [];
  socket.write(
    `GET ${PATH} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${app.owner.token}\r\n\r\n`,
  );
  await new Promise<void>((resolve) => {
    socket.once('data', (piece) => {
      socket.pause();
      pieces.push(piece);
      resolve();
    });
  });
  const goOn = () =>
    new Promise<string>((resolve, reject) => {
      socket.on('data', (piece) => pieces.push(piece));
      socket.once('end', () => resolve(Buffer.concat(pieces).toString()));
      socket.once('error', reject);
      socket.resume();
    });
  return { socket, goOn };
}

const connectionsAtWork = async () => {
  const [row] = await app.sql<{ count: string }>(
    `select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
  );
  return Number(row?.count);
};

test('who stops reading a collection holds up nobody, and is sent no more than it takes', async () => {
  const { goOn } = await beginReading();
  await eventually(connectionsAtWork, (count) => count === 0);
  const owner = app.as(app.owner);
  await owner.post(201, `${PATH}/docs/new`, { value: 1 });
  await owner.delete(204, PATH);
  const text = await goOn();
  const documents = text.match(/"key":/g)?.length ?? 0;
  // What came after the collection was gone had not been read before it: the service waited with its reader.
  expect(documents).toBeGreaterThan(0);
  expect(documents).toBeLessThan(DOCUMENTS);
  expect(text).toMatch(/\]\}\r\n0\r\n\r\n$/);
});

test('who goes away in the midst of a collection leaves nothing running', async () => {
  const { socket } = await beginReading();
  socket.destroy();
  await eventually(connectionsAtWork, (count) => count === 0);
  const whole = await app.as(app.owner).get(200, PATH);
  expect(whole.documents).toHaveLength(DOCUMENTS);
});

test('of many who read a collection at once, a tenant has few pieces read at a time, and all get theirs', async () => {
  const READERS = 12;
  await app.sql(`delete from document where key > '000100'`);
  const readingPieces = () =>
    app.sql(
      `select pid from pg_stat_activity where datname = current_database() and state = 'active' and query like '%bytes_before%'
         and pid <> pg_backend_pid()`,
    );
  const replies = await app.db.transaction().execute(async (holder) => {
    await sql`lock table document in access exclusive mode`.execute(holder);
    const begun = Array.from({ length: READERS }, async () => {
      const { goOn } = await beginReading();
      return goOn();
    });
    // Those that were tried have been given up, and wait with the slow reads, of which a tenant has two.
    await eventually(readingPieces, ({ length }) => length === 2);
    return begun;
  });
  for (const reply of await Promise.all(replies)) expect(reply).toMatch(/^HTTP\/1\.1 200 /);
});
