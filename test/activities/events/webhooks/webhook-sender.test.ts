import type { LookupAddress } from 'node:dns';
import { setImmediate as turn } from 'node:timers/promises';
import { createWebhookSender } from '../../../../activities/adapters/messages/webhook-sender.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { type WebhookReceiver, webhookReceiver } from '../../../simulators/webhook-receiver.ts';

const LOOPBACK = '127.0.0.0/8,::1/128';
/** After an answer its connection is free, or closed, only some turns later. */
async function gap(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn();
}
const NEVER = new AbortController().signal;
const closers: (() => Promise<void>)[] = [];
let receiver: WebhookReceiver;

beforeEach(async () => {
  receiver = await webhookReceiver();
  closers.push(receiver.close);
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function sender({ allow = LOOPBACK, resolve }: { allow?: string; resolve?: (hostname: string) => string[] } = {}) {
  const resolver =
    resolve &&
    ((hostname: string, done: (error: null, found: LookupAddress[]) => void) =>
      done(
        null,
        resolve(hostname).map((address) => ({ address, family: 4 })),
      ));
  const { send, close } = createWebhookSender(outboundAddresses(allow), resolver);
  closers.push(close);
  return (url: string, { timeoutMs = 60_000, body = '{}', stop = NEVER } = {}) =>
    send(
      { url, method: 'POST', headers: { 'content-type': 'application/json', 'x-mine': 'yes' }, body, timeoutMs },
      stop,
    );
}

test('sends what it is given and answers what it gets', async () => {
  receiver.answer((response) => response.writeHead(201, { 'x-answer': 'a' }).end('thanks'));
  const outcome = await sender()(`${receiver.url}/hook?x=1`, { body: '{"größe":1}' });
  expect(outcome).toMatchObject({ statusCode: 201, responseBody: 'thanks', responseHeaders: { 'x-answer': 'a' } });
  expect(receiver.requests).toMatchObject([
    { method: 'POST', path: '/hook?x=1', body: '{"größe":1}', headers: { 'x-mine': 'yes' } },
  ]);
});

test('keeps its connection', async () => {
  const send = sender();
  for (let count = 0; count < 5; count++) {
    await send(receiver.url);
    await gap();
  }
  expect(new Set(receiver.requests.map(({ connection }) => connection))).toEqual(new Set([1]));
});

test('follows no redirect, neither to a private address nor to any other', async () => {
  receiver.answer((response) => response.writeHead(302, { location: `http://10.0.0.1/` }).end());
  expect(await sender()(receiver.url)).toMatchObject({ statusCode: 302 });
  expect(receiver.requests).toHaveLength(1);
});

test('a request to a receiver that hangs is cut off by the time-out of the attempt', async () => {
  receiver.answer(() => undefined);
  expect(await sender()(receiver.url, { timeoutMs: 300 })).toMatchObject({
    errorKind: 'timeout',
    error: 'no answer within 300 ms',
  });
});

test('an answer without end is read as far as the log keeps it', async () => {
  let written = 0;
  receiver.answer((response) => {
    response.writeHead(200);
    const block = Buffer.alloc(65_536, 'x');
    const pour = () => {
      while (!response.destroyed && response.write(block)) written += block.length;
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  });
  const outcome = await sender()(receiver.url);
  expect(outcome.statusCode).toBe(200);
  expect(outcome.responseBody).toHaveLength(65_536);
  expect(written).toBeLessThan(50_000_000);
});

test('an answer whose body stalls counts by its status', async () => {
  receiver.answer((response) => response.writeHead(200).write('begun'));
  const send = sender();
  // On a busy machine not even the beginning may come within the first time-out.
  for (const timeoutMs of [300, 3_000, 30_000]) {
    const outcome = await send(receiver.url, { timeoutMs });
    if (outcome.errorKind === 'timeout') continue;
    expect(outcome).toMatchObject({ statusCode: 200, responseBody: 'begun' });
    return;
  }
  throw new Error('the beginning of the answer never came');
});

test('U+0000 in an answer is left out', async () => {
  receiver.answer((response) => response.end('a\0b'));
  expect(await sender()(receiver.url)).toMatchObject({ responseBody: 'ab' });
});

test('a connection that is reset is a network error', async () => {
  receiver.answer((response) => response.socket?.resetAndDestroy());
  expect(await sender()(receiver.url)).toMatchObject({
    errorKind: 'network',
    error: expect.stringMatching(/reset|closed|hang up/i),
  });
});

test('a port where nothing listens is a network error', async () => {
  await receiver.close();
  expect(await sender()(receiver.url)).toMatchObject({
    errorKind: 'network',
    error: 'the connection was refused (ECONNREFUSED)',
  });
});

test('an address that the operator allows is named in no error, whatever goes wrong', async () => {
  const closed = await webhookReceiver();
  await closed.close();
  const send = sender({ resolve: () => ['127.0.0.1', '127.0.0.2'] });
  const outcomes = [
    await send(`http://inside.example:${closed.port}/`),
    // TLS to a server that speaks none.
    await send(`https://inside.example:${receiver.port}/`),
  ];
  receiver.answer((response) => response.socket?.end('nonsense\r\n\r\n'));
  outcomes.push(await send(`http://inside.example:${receiver.port}/`));
  for (const outcome of outcomes) expect(outcome).toMatchObject({ errorKind: 'network', error: expect.any(String) });
  expect(JSON.stringify(outcomes)).not.toMatch(/127\.0|::1/);
});

test('a name without an address is a network error', async () => {
  expect(await sender({ resolve: () => [] })('http://nowhere.example/')).toMatchObject({ errorKind: 'network' });
});

test.each([
  'http://127.0.0.1',
  'http://2130706433',
  'http://0x7f.1',
  'http://[::ffff:127.0.0.1]',
  'http://localhost.',
  'http://0.0.0.0',
])('no connection is made to %s when nothing is opened', async (origin) => {
  expect(await sender({ allow: '' })(`${origin}:${receiver.port}/`)).toMatchObject({ errorKind: 'refused' });
  expect(receiver.requests).toHaveLength(0);
});

test('a name that resolves to a private address is refused, also when only one of its addresses is private', async () => {
  for (const found of [['10.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['169.254.169.254']]) {
    const outcome = await sender({ allow: '', resolve: () => found })(`http://rebind.example:${receiver.port}/`);
    // The address would show strangers the network behind the service.
    expect(outcome).toMatchObject({ errorKind: 'refused', error: 'rebind.example is not at a public address' });
  }
  expect(receiver.requests).toHaveLength(0);
});

test('a name that changes its address is asked for once a connection, and the checked address is the one called', async () => {
  let asked = 0;
  // The second answer would lead to a loopback address that is not opened.
  const send = sender({ allow: '127.0.0.1/32', resolve: () => (++asked === 1 ? ['127.0.0.1'] : ['127.0.0.2']) });
  const url = `http://rebind.example:${receiver.port}/`;
  expect(await send(url)).toMatchObject({ statusCode: 200 });
  await gap();
  expect(await send(url)).toMatchObject({ statusCode: 200 });
  expect(asked).toBe(1);
  expect(receiver.requests[0]?.headers.host).toBe(`rebind.example:${receiver.port}`);
  receiver.answer((response) => response.writeHead(200, { connection: 'close' }).end());
  await gap();
  await send(url);
  await gap();
  expect(await send(url)).toMatchObject({ errorKind: 'refused' });
});

test('told to stop, it cuts the request and throws', async () => {
  receiver.answer(() => undefined);
  const stop = new AbortController();
  const sent = sender()(receiver.url, { stop: stop.signal });
  await receiver.received(1);
  stop.abort();
  await expect(sent).rejects.toThrow();
});
