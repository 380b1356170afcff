import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { RunningBrowser } from '../../../activities/browser-host/chromium/browser.ts';
import { openFirstPage } from '../../../activities/browser-host/automation/first-page.ts';
import { openPage, startLocalBrowser } from '../../support/local-browsers.ts';

const SECRET = '00D000000000001!AQEAQA3Ne0fYxk';
const DOOR = `/secur/frontdoor.jsp?sid=${SECRET}&retURL=%2Fhome`;
const HOP = `/secur/frontdoor.jsp?hop=1&sid=${SECRET}`;
const leadOn = (to: string) => `<script>addEventListener('load', () => location.replace('${to}'))</script>`;
const PAGES: Record<string, (response: ServerResponse) => void> = {
  [DOOR]: (response) => response.end(leadOn('/home#part')),
  [`${DOOR}&by=entry`]: (response) =>
    response.end(`<script>onload = () => setTimeout(() => location = '/home')</script>`),
  [`${DOOR}&by=hop`]: (response) => response.writeHead(302, { location: HOP }).end(),
  [HOP]: (response) => response.end(leadOn('/between')),
  '/between': (response) => response.end(leadOn('/home?retURL=%2Fhome')),
  [`${DOOR}&by=state`]: (response) => response.end(`<script>history.replaceState(0, '', '/home')</script>`),
  [`${DOOR}&to=door`]: (response) => response.writeHead(302, { location: `${HOP}&to=nowhere` }).end(),
  [`${DOOR}&to=same`]: (response) => response.writeHead(302, { location: `/login?token=${SECRET}` }).end(),
};
let site: Server;
let url: string;
let browser: RunningBrowser;

beforeAll(async () => {
  site = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    const page = PAGES[request.url ?? ''];
    if (page) page(response);
    else response.end('Welcome');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  browser = await startLocalBrowser();
});
afterAll(async () => {
  browser.kill({ reason: 'stopped', detail: null });
  await browser.ended;
  site.closeAllConnections();
  site.close();
});

async function opened(path: string) {
  const page = await openPage(browser.cdp);
  const failure = await openFirstPage(browser.cdp, page.sessionId, new URL(path, url), new AbortController().signal);
  return { page, failure };
}

test.each([
  ['', '/home#part'],
  ['&by=entry', '/home'],
  ['&by=hop', '/home?retURL=%2Fhome'],
  ['&by=state', '/home'],
])('a page behind the front door %s knows nothing of it', async (door, path) => {
  const { page, failure } = await opened(`${DOOR}${door}`);
  expect(failure).toBeNull();
  const known = await page.evaluate(`JSON.stringify({
    url: location.href,
    referrer: document.referrer,
    from: navigation.activation?.from?.url,
    entries: navigation.entries().map(({ url }) => url),
    timing: performance.getEntriesByType('navigation').map(({ name }) => name),
  })`);
  expect(JSON.parse(String(known))).toMatchObject({ url: `${url}${path}`, referrer: '', entries: [`${url}${path}`] });
  const history = await browser.cdp.send('Page.getNavigationHistory', {}, page.sessionId);
  expect(history.entries).toHaveLength(1);
  expect(`${String(known)} ${JSON.stringify(history)}`).not.toMatch(/frontdoor|AQEAQA/);
});

test('a door that leads to another one, or no further than its secret, is not passed', async () => {
  const [door, same] = await Promise.all(['door', 'same'].map((to) => opened(`${DOOR}&to=${to}`)));
  expect(door?.failure).toMatchObject({ kind: 'front_door_refused' });
  expect(same?.failure).toMatchObject({ kind: 'front_door_refused' });
});

test('a page that is no door is opened as it is', async () => {
  const { page, failure } = await opened('/home');
  expect(failure).toBeNull();
  expect(await page.evaluate('location.href')).toBe(`${url}/home`);
});

test.each([
  [1, null],
  [2, 'The page did not load: its tab crashed'],
])('a tab that crashes %d times before its first page is there', async (crashes, message) => {
  const listeners = new Set<(method: string, params: Record<string, unknown>) => void>();
  const emit = (method: string, params = {}) => listeners.forEach((listener) => listener(method, params));
  let left = crashes;
  const cdp = {
    onEvent(_: string | undefined, listener: (method: string, params: Record<string, unknown>) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async send(method: string) {
      if (method !== 'Page.navigate') return {};
      if (left-- > 0) setImmediate(emit, 'Inspector.targetCrashed');
      else setImmediate(emit, 'Page.frameNavigated', { frame: { id: 'f', url: `${url}/home` } });
      return {};
    },
    closed: new Promise<void>(() => undefined),
  };
  const failure = await openFirstPage(cdp, 's', new URL('/home', url), new AbortController().signal);
  expect(failure?.message ?? null).toBe(message);
});
