import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { type Browser, chromium, type Page } from 'playwright-core';
import { WebSocket } from 'ws';
import type { BrowserEnd, SessionBrowser, RunningBrowser } from '../../../activities/browser-host/chromium/browser.ts';
import { bridge } from '../../../activities/browser-host/automation/cdp-bridge.ts';
import { type HostServer, startHostServer } from '../../../activities/browser-host/host-server.ts';
import type { SignedGrant } from '../../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import type { Json } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { startLocalBrowser } from '../../support/local-browsers.ts';

const PAGE = `<title>Form</title><input id="name"><button onclick="document.title = 'Hello ' + document.querySelector('#name').value">Go</button>`;
const owner = { sessionId: newId(), tenantId: newId(), projectId: newId() };
const clients: WebSocket[] = [];
let running: RunningBrowser;
let site: Server;
let siteUrl: string;
let host: HostServer;
let tabs = 1;

beforeAll(async () => {
  site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.setHeader('set-cookie', 'sid=SECRET; HttpOnly; Path=/');
    response.end(PAGE);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  running = await startLocalBrowser();
  const allocated: SessionBrowser = {
    owner,
    viewport: { width: 1_280, height: 720 },
    isRecorded: false,
    expiresAt: () => new Date(Date.now() + 600_000),
    cdp: running.cdp,
    tabs: {
      list: () => Array.from({ length: tabs }),
      attend: () => () => undefined,
      restoreViewport: () => undefined,
    } as unknown as SessionBrowser['tabs'],
    ending: new Promise<BrowserEnd>(() => undefined),
  };
  const grant = {
    hostId: newId(),
    sessionId: owner.sessionId,
    asks: 'connect',
    by: { tenantId: owner.tenantId, email: 'ada@acme.example' },
    until: new Date(Date.now() + 600_000),
  } as unknown as SignedGrant;
  const log = pino({ level: 'silent' });
  host = await startHostServer({
    allocated: { find: () => allocated },
    admit: async () => grant,
    listen: { host: '127.0.0.1', port: 0 },
    onLive: (socket) => socket.terminate(),
    onPictures: (response) => response.end(),
    onConnect: (socket, { browser }) => void bridge(socket, browser, log),
    log,
  });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  tabs = 1;
});
afterAll(async () => {
  await host.close();
  running.kill({ reason: 'stopped', detail: null });
  await running.ended;
  site.closeAllConnections();
  site.close();
});

const address = () => host.address.replace('http', 'ws');
const headers = { authorization: 'Bearer token' };
const withPlaywright = async (work: (browser: Browser) => Promise<void>) => {
  const browser = await chromium.connectOverCDP(address(), { headers });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
};

/** A new one in the session's own context. */
async function tabOf(browser: Browser): Promise<Page> {
  const [context] = browser.contexts();
  if (!context) throw new Error('the browser has no context');
  return context.newPage();
}

/** A client by the protocol alone. */
async function connected() {
  const socket = new WebSocket(address(), { headers, perMessageDeflate: false, maxPayload: 256 * 1024 * 1024 });
  clients.push(socket);
  const events: Json[] = [];
  const replies = new Map<number, (reply: Json) => void>();
  socket.on('message', (data: Buffer) => {
    const message: Json = JSON.parse(data.toString());
    if (message.id === undefined) events.push(message);
    else replies.get(message.id)?.(message);
  });
  await once(socket, 'open');
  let lastId = 0;
  const ask = (method: string, params: object = {}, sessionId?: string): Promise<Json> => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<Json>();
    replies.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    return promise;
  };
  return {
    socket,
    events,
    ask,
    /** A tab of its own. */
    async page(url = siteUrl): Promise<{ sessionId: string; targetId: string }> {
      const { targetId } = (await ask('Target.createTarget', { url })).result;
      const { sessionId } = (await ask('Target.attachToTarget', { targetId, flatten: true })).result;
      return { sessionId, targetId };
    },
  };
}

test('playwright drives a page: it types, clicks and reads; leaving it leaves the browser', async () => {
  await withPlaywright(async (browser) => {
    const page = await tabOf(browser);
    await page.goto(siteUrl);
    await page.fill('#name', 'Ada');
    await page.click('button');
    expect(await page.title()).toBe('Hello Ada');
    expect((await page.screenshot()).length).toBeGreaterThan(1_000);
    await page.goto('about:blank');
    await page.goBack();
    expect(page.url()).toBe(siteUrl);
    await expect(page.goto('file:///etc/passwd')).rejects.toThrow(/Only http, https and about:blank/);
    await expect(page.context().cookies()).rejects.toThrow(/not available/);
    await page.close();
  });
  await withPlaywright(async (browser) => {
    expect(browser.contexts()).toHaveLength(1);
    await expect(browser.newContext()).rejects.toThrow(/not available/);
  });
  expect((await running.cdp.send('Browser.getVersion')).product).toMatch(/Chrom/);
});

test('two clients at once do not see the sessions and events of each other', async () => {
  const [one, two] = [await connected(), await connected()];
  const page = await one.page();
  const same = await two.ask('Target.attachToTarget', { targetId: page.targetId, flatten: true });
  expect(same.result.sessionId).not.toBe(page.sessionId);
  expect(await two.ask('Runtime.evaluate', { expression: '1' }, page.sessionId)).toMatchObject({
    error: { code: -32_001 },
  });
  expect(await two.ask('Target.detachFromTarget', { sessionId: page.sessionId })).toMatchObject({
    error: { message: 'No session of this client has that id' },
  });
  await one.ask('Runtime.enable', {}, page.sessionId);
  await one.ask('Runtime.evaluate', { expression: 'console.log("mine")' }, page.sessionId);
  expect(one.events.map(({ method }) => method)).toContain('Runtime.consoleAPICalled');
  expect(two.events.every(({ sessionId }) => sessionId === undefined || sessionId === same.result.sessionId)).toBe(
    true,
  );
  expect(two.events.map(({ method }) => method)).not.toContain('Runtime.consoleAPICalled');
  one.socket.terminate();
  expect((await two.ask('Runtime.evaluate', { expression: '6 * 7' }, same.result.sessionId)).result.result.value).toBe(
    42,
  );
  await two.ask('Target.closeTarget', { targetId: page.targetId });
});

test('playwright works beside another client', async () => {
  const other = await connected();
  await other.ask('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
  await withPlaywright(async (browser) => {
    await withPlaywright(async (second) => {
      const page = await tabOf(browser);
      await page.goto(siteUrl);
      const seen = await eventually(
        async () =>
          second
            .contexts()
            .flatMap((context) => context.pages())
            .find((each) => each.url() === siteUrl),
        (found) => found !== undefined,
      );
      expect(await seen?.title()).toBe('Form');
      await page.close();
    });
  });
});

test('cookies do not come with what is told of the network', async () => {
  const client = await connected();
  const page = await client.page('about:blank');
  await client.ask('Network.enable', {}, page.sessionId);
  for (let time = 0; time < 2; time++) await client.ask('Page.navigate', { url: siteUrl }, page.sessionId);
  const received = await eventually(
    async () => client.events.filter(({ method }) => method === 'Network.responseReceived'),
    (found) => found.length >= 2,
  );
  expect(received[0].params.response.headers['content-type']).toBe('text/html');
  expect(JSON.stringify(client.events)).not.toContain('SECRET');
  expect(client.events.filter(({ method }) => method.endsWith('ExtraInfo'))).toEqual([]);
  await client.ask('Target.closeTarget', { targetId: page.targetId });
});

test('what leaves the client has its sessions detached', async () => {
  const client = await connected();
  const page = await client.page();
  client.socket.close();
  await eventually(
    () => running.cdp.pass({ method: 'Runtime.evaluate', params: { expression: '1' }, sessionId: page.sessionId }),
    ({ error }) => error?.code === -32_001,
  );
  await running.cdp.send('Target.closeTarget', { targetId: page.targetId });
});

const dragged = (mimeType: string, data: string) => ({ items: [{ mimeType, data }], dragOperationsMask: 1 });

test.each([
  ['Browser.close', {}],
  ['Browser.crash', {}],
  ['Target.createBrowserContext', { proxyServer: 'direct://' }],
  ['Target.attachToBrowserTarget', {}],
  ['Target.exposeDevToolsProtocol', { targetId: 'x' }],
  ['Target.attachToTarget', { targetId: 'x' }],
  ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false }],
  ['Target.createTarget', { url: 'file:///etc/passwd' }],
  ['Target.createTarget', { url: 'view-source:https://example.com' }],
  ['Target.createTarget', { url: 'chrome://settings' }],
  ['Page.navigate', { url: 'javascript:alert(1)' }],
  ['DOM.setFileInputFiles', { files: ['/etc/passwd'] }],
  ['DOM.getFileInfo', { objectId: 'x' }],
  ['Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data: { files: ['/etc/passwd'] } }],
  ['Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data: dragged('text/uri-list', 'file:///etc/passwd') }],
  ['Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data: dragged('Text/uri-list', 'http://x/\r\nfile:///') }],
  ['Fetch.enable', {}],
  ['IO.read', { handle: 'x' }],
  ['Network.getCookies', {}],
  ['Network.getAllCookies', {}],
  ['Storage.getCookies', {}],
  ['Network.setRequestInterception', {}],
  ['Network.loadNetworkResource', { url: 'file:///etc/passwd' }],
  ['SystemInfo.getInfo', {}],
  ['Tracing.start', {}],
  ['constructor', {}],
  ['', {}],
])('%s %j is refused', async (method, params) => {
  const client = await connected();
  expect(await client.ask(method, params)).toMatchObject({ error: { code: -32_000 } });
});

test('texts are dragged into a page; files of the browser, whose paths a client says, are not', async () => {
  const client = await connected();
  const { sessionId, targetId } = await client.page();
  const evaluate = async (expression: string) =>
    (await client.ask('Runtime.evaluate', { expression, returnByValue: true }, sessionId)).result.result.value;
  await eventually(
    () => evaluate('document.title'),
    (title) => title === 'Form',
  );
  await evaluate(`addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', (event) => {
      event.preventDefault();
      globalThis.dropped = [event.dataTransfer.getData('text/plain'), event.dataTransfer.files.length];
    });`);
  const data = { ...dragged('text/plain', 'Ada'), files: ['/etc/passwd'] };
  for (const type of ['dragEnter', 'dragOver', 'drop'])
    await client.ask('Input.dispatchDragEvent', { type, x: 100, y: 100, data }, sessionId);
  const dropped = await eventually(
    () => evaluate('globalThis.dropped'),
    (found) => found !== undefined,
  );
  expect(dropped).toEqual(['Ada', 0]);
  await client.ask('Target.closeTarget', { targetId });
});

test('an answer of more than 8 MB is an error, and the tab goes on', async () => {
  const client = await connected();
  const { sessionId, targetId } = await client.page();
  const said = (expression: string) => client.ask('Runtime.evaluate', { expression, returnByValue: true }, sessionId);
  expect(await said('"x".repeat(9_000_000)')).toMatchObject({ error: { code: -32_000 }, sessionId });
  expect((await said('"x".repeat(8_000_000)')).result.result.value).toHaveLength(8_000_000);
  await client.ask('Target.closeTarget', { targetId });
});

test('downloads are answered as if they were set, and the eleventh tab is refused', async () => {
  const client = await connected();
  const behavior = { behavior: 'allow', downloadPath: '/' };
  expect((await client.ask('Browser.setDownloadBehavior', behavior)).result).toEqual({});
  tabs = 10;
  expect(await client.ask('Target.createTarget', { url: 'about:blank' })).toMatchObject({
    error: { message: 'The browser has 10 tabs already' },
  });
});

test('a message of 100 MB and one that is no command end the connection, the browser goes on', async () => {
  for (const [message, code] of [
    [Buffer.alloc(100 * 1024 * 1024, 'a'), 1009],
    ['{"id":"x"}', 1007],
    ['[]', 1007],
    ['{', 1007],
  ] as const) {
    const { socket } = await connected();
    const closed = once(socket, 'close');
    socket.on('error', () => undefined);
    socket.send(message, () => undefined);
    const [closedWith] = await closed;
    expect([code, 1006]).toContain(closedWith);
  }
  expect((await (await connected()).ask('Browser.getVersion')).result.product).toMatch(/Chrom/);
});

test('a client that never reads is cut off, and takes nothing from others', async () => {
  const idle = await connected();
  const other = await connected();
  const page = await idle.page();
  const closed = new Promise((resolve) => void idle.socket.once('close', resolve));
  idle.socket.pause();
  const big = JSON.stringify({
    method: 'Runtime.evaluate',
    params: { expression: '"x".repeat(8_000_000)' },
    sessionId: page.sessionId,
  }).slice(1);
  for (let id = 1_000; id < 1_020; id++) idle.socket.send(`{"id":${id},${big}`);
  expect((await other.ask('Browser.getVersion')).result.product).toMatch(/Chrom/);
  await eventually(
    () => running.cdp.pass({ method: 'Runtime.evaluate', params: { expression: '1' }, sessionId: page.sessionId }),
    ({ error }) => error?.code === -32_001,
  );
  idle.socket.resume();
  await closed;
  await other.ask('Target.closeTarget', { targetId: page.targetId });
});

test('commands beyond the pace wait, and are all answered', async () => {
  const client = await connected();
  const answers = await Promise.all(Array.from({ length: 600 }, () => client.ask('Browser.getVersion')));
  expect(answers.every(({ result }) => typeof result.product === 'string')).toBe(true);
});
