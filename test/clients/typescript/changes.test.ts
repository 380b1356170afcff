import type { ServerResponse } from 'node:http';
import type * as QuaysideClient from '@quayside/client';
import type { ChangeEvent } from '@quayside/client';
import { clientPackage, type Got, sendJson, smallServer, type SmallServer } from '../../support/clients.ts';

let quayside: typeof QuaysideClient;
let server: SmallServer;
let connections: ((response: ServerResponse, got: Got) => void)[];
let waited: number[];
beforeAll(async () => {
  quayside = await clientPackage();
  server = await smallServer((got, response) => connections.shift()?.(response, got));
});
afterAll(() => server.close());
beforeEach(() => {
  server.got.length = 0;
  waited = [];
});

const frame = (event: string, data: unknown, id?: string) =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
const stream = (...pieces: string[]) => {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) response.write(piece);
  };
};
const ending =
  (...pieces: string[]) =>
  (response: ServerResponse) => {
    stream(...pieces)(response);
    response.end();
  };
const hello = (id: string) => frame('hello', { id, heartbeatSeconds: 25, api: '1' }, id);
const change = (id: string) => ({ topic: 'release_candidate', id, repositoryIdentifier: 'acme/shop' });

async function take(count: number, more: Partial<QuaysideClient.ChangesOptions> = {}): Promise<ChangeEvent[]> {
  const client = quayside.createClient({
    url: server.url,
    token: 'qs_app_1',
    parts: { wait: () => Promise.resolve() },
  });
  const taken: ChangeEvent[] = [];
  const wait = (ms: number) => {
    waited.push(ms);
    return Promise.resolve();
  };
  for await (const event of quayside.changes({ client, parts: { wait, random: () => 1 }, ...more })) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

test('events come as they are sent, whatever the pieces', async () => {
  const text = `: hi\r\n\r\n${hello('e-1')}: still here\n\n${frame('changes', [change('1'), change('2')], 'e-2')}`;
  connections = [stream(...text)];
  expect(await take(2, { topics: ['release_candidate', 'approval'], repositoryIdentifier: 'acme/shop' })).toEqual([
    { type: 'hello', id: 'e-1', heartbeatSeconds: 25, api: '1' },
    { type: 'changes', id: 'e-2', changes: [change('1'), change('2')] },
  ]);
  expect(server.got).toEqual([
    expect.objectContaining({
      url: '/api/changes?topics=release_candidate%2Capproval&repositoryIdentifier=acme%2Fshop',
      headers: expect.objectContaining({ authorization: 'Bearer qs_app_1', accept: 'text/event-stream' }),
    }),
  ]);
});

test('a stream that ends is taken up behind the last event, and says what may have been missed', async () => {
  connections = [
    ending(hello('e-1'), frame('changes', [change('1')], 'e-2')),
    ending(hello('e-2'), frame('changes', [change('2')], 'e-3'), frame('bye', {})),
    (response) => response.destroy(),
    stream(frame('reset', { reason: 'epoch' }, 'f-1')),
  ];
  expect((await take(5)).map(({ type, id }) => `${type} ${id}`)).toEqual([
    'hello e-1',
    'changes e-2',
    'hello e-2',
    'changes e-3',
    'reset f-1',
  ]);
  const ids = server.got.map(({ headers }) => headers['last-event-id']);
  expect([...new Set(ids)]).toEqual([undefined, 'e-2', 'e-3']);
  // Everybody returns within five seconds, at a moment of their own.
  expect(waited.slice(0, 2)).toEqual([5_000, 5_000]);
});

test('a stream goes on behind the id of a heartbeat, and a caller that is busy keeps its own', async () => {
  const quick = frame('hello', { heartbeatSeconds: 0.01 }, 'e-1');
  connections = [ending(quick, ': \nid: e-7\n\n'), stream(hello('e-7'))];
  await take(2);
  expect(server.got[1]?.headers['last-event-id']).toBe('e-7');
  server.got.length = 0;
  connections = [stream(quick, frame('changes', [change('1')], 'e-2')), stream(hello('f-1'))];
  const client = quayside.createClient({ url: server.url, token: 'qs_app_1' });
  for await (const { type } of quayside.changes({ client })) {
    if (type === 'changes') break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(server.got).toHaveLength(1);
});

test('what is refused for good ends it with the problem, what is not is asked again', async () => {
  const problem = { code: 'invalid_request', status: 400, detail: 'unknown topic' };
  connections = [
    (response) => sendJson(response, 500, { code: 'internal', status: 500, detail: 'failed' }),
    (response) => sendJson(response, 400, problem),
  ];
  await expect(take(1, { topics: ['nothing'] })).rejects.toMatchObject({ problem });
  expect(server.got).toHaveLength(2);
});

test('a stream that falls silent for two heartbeats is made again', async () => {
  connections = [
    stream(frame('hello', { heartbeatSeconds: 0.01 }, 'e-1')),
    stream(frame('changes', [change('1')], 'e-2')),
  ];
  expect((await take(2)).map(({ id }) => id)).toEqual(['e-1', 'e-2']);
});

test('it ends with its signal', async () => {
  const stop = new AbortController();
  connections = [stream(hello('e-1'))];
  const taken: string[] = [];
  const client = quayside.createClient({ url: server.url, token: 'qs_app_1' });
  for await (const { type } of quayside.changes({ client, signal: stop.signal })) {
    taken.push(type);
    stop.abort();
  }
  expect(taken).toEqual(['hello']);
});
