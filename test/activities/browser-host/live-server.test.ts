import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { WebSocketServer } from 'ws';
import { createLiveServer, type LiveServer } from '../../../activities/browser-host/live/live-server.ts';
import type { LiveMode } from '../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import { FakeSessionBrowser } from '../../support/fake-session-browser.ts';
import { LiveClient } from '../../support/live-client.ts';
import { eventually } from '../../support/eventually.ts';

let browser: FakeSessionBrowser;
let live: LiveServer;
let server: Server;
let url: string;
let noted: string[];
let isTrailAway: boolean;
const clients: LiveClient[] = [];

beforeEach(async () => {
  browser = new FakeSessionBrowser();
  noted = [];
  isTrailAway = false;
  live = createLiveServer({
    browsers: { find: (id) => (id === browser.owner.sessionId ? browser : undefined) },
    noteControl: async (_, viewer, previous) => {
      if (isTrailAway) throw new Error('the database is away');
      noted.push(`${viewer.name} from ${previous?.name ?? 'nobody'}`);
    },
    log: pino({ level: 'silent' }),
  });
  const viewerOf = (address = '') => {
    const { searchParams } = new URL(address, 'http://localhost');
    const name = searchParams.get('name') ?? '';
    const may = (searchParams.get('may') ?? 'control') as LiveMode;
    const { tenantId } = browser.owner;
    const actor = { type: 'user', id: newId(), tenantId, tenantSlug: 'acme', role: 'member', email: name } as const;
    return { name, may, actor, linkId: null };
  };
  const id = () => browser.owner.sessionId;
  server = createServer((request, response) => live.stream(response, id(), viewerOf(request.url)));
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const isElsewhere = request.url?.includes('elsewhere') ?? false;
      live.accept(opened, isElsewhere ? newId() : id(), viewerOf(request.url));
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate();
  live.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function watcher(name: string, may: LiveMode = 'control'): Promise<LiveClient> {
  const client = await LiveClient.open(`ws://${url}/?name=${name}&may=${may}`);
  clients.push(client);
  await eventually(
    async () => browser.watches.size,
    (size) => size > 0,
  );
  return client;
}
const controller = async (name: string): Promise<LiveClient> => {
  const client = await watcher(name);
  client.send({ type: 'control', take: true });
  await client.got('people', ({ controller: id }) => id === client.last('welcome')?.you);
  return client;
};
const methods = () => browser.input.map(({ method, params }) => `${method} ${params.type ?? params.text}`);
/** What the host got before this, it has handled. */
async function handled(client: LiveClient): Promise<void> {
  const before = client.messages.filter(({ type }) => type === 'watching').length;
  client.send({ type: 'watch', tab: null });
  await eventually(
    async () => client.messages.filter(({ type }) => type === 'watching').length,
    (count) => count > before,
  );
}

test('who comes is told of the tabs, the time and the people, and sees the tab that is worked in', async () => {
  const ada = await watcher('ada');
  expect(ada.last('welcome')).toMatchObject({ mayControl: true, isRecorded: true, viewport: { width: 1_280 } });
  expect(ada.last('tabs')).toMatchObject({ tabs: [{ number: 0, title: 'Shop' }], front: 0 });
  expect(ada.last('time')?.leftMs).toBeGreaterThan(590_000);
  expect(ada.last('people')).toMatchObject({ people: [{ name: 'ada' }], controller: null });
  browser.take(0, Buffer.from('jpeg'));
  const [picture] = await eventually(
    async () => ada.pictures,
    ({ length }) => length === 1,
  );
  expect(picture).toMatchObject({ tab: 0, number: 1, width: 1_280, height: 720 });
  expect(picture?.jpeg.toString()).toBe('jpeg');
});

test('a viewer that draws nothing gets four pictures and then the newest, and delays nobody', async () => {
  const slow = await watcher('slow');
  slow.draws = false;
  const ada = await watcher('ada');
  await eventually(
    async () => browser.watches.size,
    (size) => size === 2,
  );
  for (let count = 1; count <= 20; count++) {
    browser.take(0, Buffer.from(`picture ${count}`));
    await eventually(
      async () => ada.pictures.length,
      (length) => length === count,
    );
  }
  const shown = () => slow.pictures.map(({ jpeg }) => jpeg.toString());
  await handled(slow);
  expect(shown()).toEqual(['picture 1', 'picture 2', 'picture 3', 'picture 4']);
  slow.send({ type: 'seen', number: 4 });
  await eventually(
    async () => shown().at(-1),
    (last) => last === 'picture 20',
  );
  expect(shown()).toHaveLength(5);
});

test('only the one who controls acts; control is taken over, and the one before is told', async () => {
  const ada = await controller('ada');
  const ben = await watcher('ben');
  ben.send({ type: 'insert', text: 'not yet' });
  ben.send({ type: 'open' });
  expect((await ben.got('notice')).text).toBe('Take control first');
  expect(browser.input).toEqual([]);

  ada.send({
    type: 'key',
    kind: 'down',
    key: 'a',
    code: 'KeyA',
    keyCode: 65,
    location: 0,
    modifiers: 0,
    isRepeated: false,
  });
  await eventually(
    async () => browser.input.length,
    (length) => length === 1,
  );
  ben.send({ type: 'control', take: true });
  expect((await ada.got('notice')).text).toBe('ben has taken control');
  // The key that she held is let go.
  expect(methods()).toEqual(['Input.dispatchKeyEvent keyDown', 'Input.dispatchKeyEvent keyUp']);
  ada.send({ type: 'insert', text: 'too late' });
  await handled(ada);
  ben.send({ type: 'insert', text: '日本語' });
  await eventually(
    async () => browser.input.length,
    (length) => length === 3,
  );
  expect(browser.input.at(-1)).toMatchObject({ params: { text: '日本語' }, tab: 'session-0' });
  expect(noted).toEqual(['ada from nobody', 'ben from ada']);

  ben.socket.terminate();
  expect((await ada.got('people', ({ people }) => people.length === 1)).controller).toBeNull();
});

test('who takes control while that cannot be noted does not keep it', async () => {
  isTrailAway = true;
  const ada = await watcher('ada');
  ada.send({ type: 'control', take: true });
  expect((await ada.got('notice')).text).toContain('could not be noted');
  expect((await ada.got('people', ({ controller: id }) => id === null)).people).toHaveLength(1);
  ada.send({ type: 'insert', text: 'not noted' });
  await handled(ada);
  expect(browser.input).toEqual([]);
});

test('addresses and titles are cut, and a viewer that reads nothing is let go', async () => {
  const stuck = await watcher('stuck');
  const ada = await watcher('ada');
  stuck.socket.pause();
  browser.add(`https://shop.example.com/${'a'.repeat(1_900_000)}`, 't'.repeat(5_000));
  const { tabs } = await ada.got('tabs', (told) => told.tabs.length === 2);
  expect(tabs[1]?.url).toHaveLength(2_000);
  expect(tabs[1]?.title).toHaveLength(300);
  for (let round = 1; round <= 16; round++) {
    for (let opened = 0; opened < 10; opened++) browser.add(`https://shop.example.com/${'b'.repeat(2_000)}`, 'more');
    await ada.got('tabs', (told) => told.tabs.length === 2 + round * 10);
  }
  await ada.got('people', ({ people }) => people.length === 1);
});

test('who may only watch cannot take control', async () => {
  const guest = await watcher('guest', 'watch');
  guest.send({ type: 'control', take: true });
  expect((await guest.got('notice')).text).toContain('not control');
  expect(guest.last('people')?.controller).toBeNull();
  expect(noted).toEqual([]);
});

test('everyone chooses a tab; others follow the one who controls, and a tab that opens', async () => {
  const ada = await controller('ada');
  const ben = await watcher('ben');
  browser.add('https://shop.example.com/cart', 'Cart');
  await ben.got('watching', ({ tab }) => tab === 1);
  ben.send({ type: 'watch', tab: 0 });
  expect(await ben.got('watching', ({ tab }) => tab === 0)).toMatchObject({ follows: false });
  expect(ada.last('watching')?.tab).toBe(1);
  ada.send({ type: 'open', url: 'https://shop.example.com/help' });
  await ada.got('watching', ({ tab }) => tab === 2);
  expect(ben.last('watching')?.tab).toBe(0);
  ada.send({ type: 'watch', tab: 1 });
  await ada.got('tabs', ({ front }) => front === 1);
  expect(browser.asked).toContain('activate tab-1');
  ada.send({ type: 'close', tab: 0 });
  expect(await ben.got('watching', ({ tab }) => tab === 1)).toMatchObject({ follows: true });
  ada.send({ type: 'close', tab: 1 });
  await ben.got('watching', ({ tab }) => tab === 2);
  ada.send({ type: 'close', tab: 2 });
  expect((await ada.got('notice')).text).toContain('last tab');
});

test('the one who controls goes back and forward, and to http and https addresses alone', async () => {
  const ada = await controller('ada');
  ada.send({ type: 'history', to: 'back' });
  ada.send({ type: 'history', to: 'reload' });
  ada.send({ type: 'go', url: 'https://shop.example.com/cart' });
  await eventually(
    async () => browser.asked.length,
    (length) => length >= 5,
  );
  expect(browser.asked).toContain('Page.navigateToHistoryEntry {"entryId":7}');
  expect(browser.asked).toContain('Page.navigate {"url":"https://shop.example.com/cart"}');
  ada.send({ type: 'go', url: 'file:///etc/passwd' });
  await eventually(
    async () => ada.closed,
    (closed) => closed?.code === 1008,
  );
  expect(browser.asked.join()).not.toContain('file:');
});

test.each([
  ['no JSON', '{'],
  ['an unknown type', '{"type":"shout"}'],
  ['a field too many', '{"type":"control","take":true,"as":"ada"}'],
  ['a text that is too long', JSON.stringify({ type: 'insert', text: 'a'.repeat(100_001) })],
  ['a chrome address', '{"type":"open","url":"chrome://settings"}'],
])('a socket that sends %s is closed', async (_, text) => {
  const ada = await controller('ada');
  ada.socket.send(text);
  await eventually(
    async () => ada.closed,
    (closed) => closed?.code === 1008,
  );
  expect(browser.input).toEqual([]);
});

test('a socket that sends without end is closed', async () => {
  const ada = await controller('ada');
  for (let count = 0; count < 2_000; count++) ada.send({ type: 'seen', number: 0 });
  await eventually(
    async () => ada.closed,
    (closed) => closed?.code === 1008,
  );
});

test('a page that does not answer loses moves of the mouse first, and says when it loses more', async () => {
  const ada = await controller('ada');
  browser.isHung = true;
  for (let x = 0; x < 50; x++)
    ada.send({ type: 'mouse', kind: 'move', x, y: 1, modifiers: 0, button: 'none', buttons: 0, clicks: 0 });
  for (let count = 0; count < 200; count++) ada.send({ type: 'insert', text: 'a' });
  await ada.got('notice', ({ text }) => text.includes('does not answer'));
  expect(browser.input.filter(({ method }) => method.includes('Mouse'))).toHaveLength(10);
  expect(browser.input).toHaveLength(200);
});

test('everyone is told of more time, and of the end with its reason', async () => {
  const ada = await watcher('ada');
  browser.expires = new Date(Date.now() + 1_200_000);
  await ada.got('time', ({ leftMs }) => leftMs > 1_100_000);
  browser.end({ reason: 'expired', detail: null });
  expect(await ada.got('end')).toMatchObject({ reason: 'expired' });
  await eventually(
    async () => ada.closed,
    (closed) => closed?.code === 1000,
  );
  expect(browser.watches.size).toBe(0);
});

test('a browser that is not here is not shown, and of one that is, nothing is taken when nobody watches', async () => {
  const lost = new LiveClient(`ws://${url}/elsewhere`);
  await eventually(
    async () => lost.closed,
    (closed) => closed?.code === 4404,
  );
  const ada = await watcher('ada');
  expect(browser.watches.size).toBe(1);
  ada.socket.close();
  await eventually(
    async () => browser.watches.size,
    (size) => size === 0,
  );
});

test('without a script, pictures replace one another in one answer, until the end', async () => {
  const response = await fetch(`http://${url}/?name=img`);
  expect(response.headers.get('content-type')).toBe('multipart/x-mixed-replace; boundary=picture');
  const reader = response.body?.getReader();
  let text = '';
  const readUntil = async (part: string) => {
    while (!text.includes(part)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += Buffer.from(value ?? []).toString();
    }
    return text;
  };
  browser.take(0, Buffer.from('one'));
  const head = '--picture\r\nContent-Type: image/jpeg\r\n\r\n';
  await readUntil(`one\r\n${head}`);
  browser.take(0, Buffer.from('two'));
  expect(await readUntil(`two\r\n${head}`)).toBe(`${head}one\r\n${head}two\r\n${head}`);
  browser.end({ reason: 'stopped', detail: null });
  expect(await readUntil('never')).not.toContain('never');
});
