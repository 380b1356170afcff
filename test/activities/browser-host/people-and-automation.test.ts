import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { type Browser, chromium, type Page } from 'playwright-core';
import { WebSocket, WebSocketServer } from 'ws';
import type {
  BrowserEnd,
  SessionBrowser,
  Picture,
  RunningBrowser,
} from '../../../activities/browser-host/chromium/browser.ts';
import { bridge } from '../../../activities/browser-host/automation/cdp-bridge.ts';
import type { HostMessage } from '../../../activities/browser-host/live/live-protocol.ts';
import { LiveRoom, type Member } from '../../../activities/browser-host/live/live-room.ts';
import { jpegSize } from '../../../activities/browser-host/live/jpeg-size.ts';
import { BrowserTabs } from '../../../activities/browser-host/automation/tabs.ts';
import type { LiveViewer } from '../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import type { Json } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { startLocalBrowser } from '../../support/local-browsers.ts';
import { servePages } from '../../support/pages.ts';

const viewport = { width: 1_280, height: 720 };
const RECORDS = `<title>Records</title><p id="records">3</p><p id="name"></p>
<button id="delete" onclick="if (confirm('Delete the newspaper?')) records.textContent = records.textContent - 1">Delete</button>
<button id="rename" onclick="name_ = prompt('Its name?', 'Daily'); document.getElementById('name').textContent = name_ ?? 'none'">Rename</button>`;

let pages: Awaited<ReturnType<typeof servePages>>;
let running: RunningBrowser;
let allocated: SessionBrowser;
let server: Server;
let notes: unknown[];
const closing: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  pages = await servePages({ '/records': RECORDS });
  running = await startLocalBrowser({}, { viewport });
  const tabs = await BrowserTabs.of(running.cdp, {
    viewport,
    onNote: ({ kind, data }) => kind === 'dialog' && notes.push(data),
    onNoneLeft: () => undefined,
  });
  allocated = {
    owner: { sessionId: newId(), tenantId: newId(), projectId: newId() },
    viewport,
    isRecorded: false,
    expiresAt: () => new Date(Date.now() + 600_000),
    cdp: running.cdp,
    tabs,
    ending: new Promise<BrowserEnd>(() => undefined),
  };
  server = createServer().listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => void bridge(socket, allocated, pino({ level: 'silent' })));
  await once(server, 'listening');
});
beforeEach(async () => {
  notes = [];
  await allocated.cdp.send('Page.navigate', { url: `${pages.url}/records` }, tab().cdpSession);
  await eventually(
    async () => tab().title,
    (title) => title === 'Records',
  );
  await shows('records', '3');
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  running.kill({ reason: 'stopped', detail: null });
  server.closeAllConnections();
  server.close();
  await Promise.all([running.ended, pages.close()]);
});

function tab() {
  const [only] = allocated.tabs.list();
  if (!only) throw new Error('the browser has no tab');
  return only;
}
async function shows(id: string, text: string): Promise<void> {
  const expression = `document.getElementById('${id}')?.textContent`;
  await eventually(
    async () => {
      const { result } = await allocated.cdp.send('Runtime.evaluate', { expression }, tab().cdpSession);
      return (result as { value?: string }).value;
    },
    (shown) => shown === text,
  );
}
/** Clicks as a person does; the page answers when its dialog is answered. */
const click = (id: string) =>
  allocated.cdp.send(
    'Runtime.evaluate',
    { expression: `document.getElementById('${id}').click()`, userGesture: true },
    tab().cdpSession,
  );

const address = () => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function automation(): Promise<Page> {
  const browser: Browser = await chromium.connectOverCDP(address());
  closing.push(() => browser.close());
  const [page] = browser.contexts()[0]?.pages() ?? [];
  if (!page) throw new Error('automation sees no page');
  return page;
}

/** A client by the protocol alone; answers results. */
async function protocol() {
  const socket = new WebSocket(address());
  closing.push(() => socket.terminate());
  const replies = new Map<number, (result: Json) => void>();
  socket.on('message', (data: Buffer) => {
    const { id, result, error }: Json = JSON.parse(data.toString());
    replies.get(id)?.(result ?? error);
  });
  await once(socket, 'open');
  let lastId = 0;
  return (method: string, params: object, sessionId?: string): Promise<Json> => {
    const id = ++lastId;
    socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    return new Promise((resolve) => replies.set(id, resolve));
  };
}

/** Somebody at the live view. */
function viewer(room: LiveRoom, name: string): Member & { told: HostMessage[] } {
  const told: HostMessage[] = [];
  const { tenantId } = allocated.owner;
  const actor = { type: 'user', id: newId(), tenantId, tenantSlug: 'acme', role: 'member', email: name } as const;
  const who: LiveViewer = { name, may: 'control', actor, linkId: null };
  const member = room.join(who, {
    tell: (message) => told.push(message),
    show: () => undefined,
    forget: () => undefined,
    end: () => undefined,
  });
  closing.push(() => member.leave());
  return Object.assign(member, { told });
}
const newRoom = () => new LiveRoom(allocated, { onControl: async () => true, onEmpty: () => undefined });
const asked = async (told: HostMessage[]) => {
  const found = await eventually(
    async () => told.findLast((message) => message.type === 'dialogs'),
    (message) => (message?.dialogs.length ?? 0) > 0,
  );
  return found?.dialogs ?? [];
};

test('automation that dismisses a dialog leaves the record; one that accepts it does not', async () => {
  const page = await automation();
  const messages: string[] = [];
  page.once('dialog', (dialog) => {
    messages.push(dialog.message());
    void dialog.dismiss();
  });
  await page.click('#delete');
  await shows('records', '3');
  page.once('dialog', (dialog) => void dialog.accept());
  await page.click('#delete');
  await shows('records', '2');
  expect(messages).toEqual(['Delete the newspaper?']);
  expect(notes).toEqual([
    { tab: 0, type: 'confirm', accept: false, by: 'automation' },
    { tab: 0, type: 'confirm', accept: true, by: 'automation' },
  ]);
});

test('automation that listens to no dialog dismisses it', async () => {
  const page = await automation();
  await page.click('#delete');
  await page.click('#delete');
  await shows('records', '3');
});

test('with nobody there a dialog is dismissed, also when somebody only watches', async () => {
  await click('delete');
  await shows('records', '3');
  const { told } = viewer(newRoom(), 'ben');
  await click('delete');
  await shows('records', '3');
  expect(told.filter(({ type }) => type === 'dialogs')).toEqual([{ type: 'dialogs', dialogs: [] }]);
});

test('who controls the live view accepts and dismisses; others are shown what is asked', async () => {
  const room = newRoom();
  const [ada, ben] = [viewer(room, 'ada'), viewer(room, 'ben')];
  ada.receive({ type: 'control', take: true });
  const first = click('delete');
  const [confirm] = await asked(ben.told);
  expect(confirm).toMatchObject({ tab: 0, kind: 'confirm', message: 'Delete the newspaper?' });
  const answer = { type: 'answer', tab: 0, dialog: confirm?.number ?? 0 } as const;
  ben.receive({ ...answer, accept: true });
  expect(ben.told.at(-1)).toEqual({ type: 'notice', text: 'Take control first' });
  ada.receive({ ...answer, accept: false });
  await first;
  await shows('records', '3');
  ada.receive({ ...answer, accept: true });
  expect(ada.told.at(-1)).toEqual({ type: 'notice', text: 'The dialog was answered already' });

  const second = click('rename');
  const [prompt] = await asked(ada.told);
  expect(prompt).toMatchObject({ kind: 'prompt', message: 'Its name?', proposal: 'Daily' });
  ada.receive({ type: 'answer', tab: 0, dialog: prompt?.number ?? 0, accept: true, text: 'Weekly' });
  await second;
  await shows('name', 'Weekly');

  // It is held up no longer than somebody is there.
  const third = click('delete');
  await asked(ada.told);
  ada.receive({ type: 'control', take: false });
  await third;
  await shows('records', '3');
  expect(ben.told.findLast(({ type }) => type === 'dialogs')).toEqual({ type: 'dialogs', dialogs: [] });
});

/** Waits until pictures show all of a page of that size. */
async function pictures(watched: Picture[], size: { width: number; height: number }): Promise<void> {
  const sizes = () => {
    const newest = watched.at(-1);
    return newest && { said: { width: newest.width, height: newest.height }, drawn: jpegSize(newest.jpeg) };
  };
  await eventually(
    async () => sizes(),
    (found) => isDeepStrictEqual(found, { said: size, drawn: size }),
  );
  const expression = '[innerWidth, innerHeight].join()';
  const { result } = await allocated.cdp.send('Runtime.evaluate', { expression }, tab().cdpSession);
  expect(result).toMatchObject({ value: `${size.width},${size.height}` });
}

test('pictures show the whole page when automation sets a viewport, clears it, detaches and disconnects', async () => {
  const watched: Picture[] = [];
  closing.push(allocated.tabs.watch(tab().id, 25, (picture) => watched.push(picture)));
  await pictures(watched, viewport);
  const page = await automation();
  await page.setViewportSize({ width: 800, height: 600 });
  await pictures(watched, { width: 800, height: 600 });
  await page.context().browser()?.close();
  await pictures(watched, viewport);

  const ask = await protocol();
  const attach = async () => (await ask('Target.attachToTarget', { targetId: tab().id, flatten: true })).sessionId;
  const size = { width: 1_000, height: 500 };
  const resize = (session: string) =>
    ask('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false }, session);
  const session = await attach();
  await resize(session);
  await pictures(watched, size);
  await ask('Emulation.clearDeviceMetricsOverride', {}, session);
  await pictures(watched, viewport);
  await resize(session);
  await pictures(watched, size);
  await ask('Target.detachFromTarget', { sessionId: session });
  await pictures(watched, viewport);
});
