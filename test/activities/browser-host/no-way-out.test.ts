import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningBrowser } from '../../../activities/browser-host/browser.ts';
import { processesOf } from '../../../activities/browser-host/processes.ts';
import { openPage, startLocalBrowser, type TestPage } from '../../support/local-browsers.ts';
import { serve, startVictims, type Victims } from '../../support/victims.ts';

/** The page under test is at an address that the operator lists; that of the victims is not. */
const PAGE_ADDRESS = '127.0.0.2';

let victims: Victims;
let site: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  victims = await startVictims();
  site = await serve(PAGE_ADDRESS, page);
});
afterAll(async () => {
  await victims.close();
  await site.close();
});

function page({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://page');
  if (pathname === '/to') return void response.writeHead(302, { location: searchParams.get('url') ?? '' }).end();
  if (pathname === '/file') response.setHeader('content-disposition', 'attachment; filename=downloaded.txt');
  else response.setHeader('content-type', 'text/html');
  response.end('<title>page</title>hello');
}

const victimUrls = () =>
  [
    '127.0.0.1',
    'localhost',
    'a.localhost',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ].map((host) => `http://${host}:${victims.port}/`);

/** Runs in the page; answers when each way has failed or succeeded, or after 4 s: without a network some say nothing. */
const waysOut = (
  urls: readonly string[],
  { port, udpPort }: Victims,
) => `Promise.race([new Promise((resolve) => setTimeout(resolve, 4000, 'done')), (async () => {
  const settled = (work) => Promise.resolve().then(work).then(() => true, () => false);
  const event = (target, ...names) => new Promise((resolve) => {
    for (const name of names) target.addEventListener(name, () => resolve(name));
  });
  const element = async (name, attributes) => {
    const made = Object.assign(document.createElement(name), attributes);
    const done = event(made, 'load', 'error');
    document.body.append(made);
    return done;
  };
  for (const [rel, href] of [['preconnect', ${JSON.stringify(urls[0])}], ['dns-prefetch', '//localhost'], ['prefetch', ${JSON.stringify(urls[0])}]])
    document.head.append(Object.assign(document.createElement('link'), { rel, href }));
  await Promise.all(${JSON.stringify(urls)}.flatMap((url) => [
    settled(() => fetch(url)),
    settled(() => fetch(url, { mode: 'no-cors', method: 'POST', body: 'x' })),
    settled(() => fetch('/to?url=' + encodeURIComponent(url), { mode: 'no-cors' })),
    element('img', { src: url }),
    element('script', { src: url }),
    element('iframe', { src: url }),
    event(new WebSocket(url.replace('http', 'ws')), 'error', 'open'),
    event(new EventSource(url), 'error', 'open'),
    settled(() => navigator.sendBeacon(url, 'x')),
  ]));
  await settled(() => new WebTransport('https://127.0.0.1:${udpPort}/').ready);
  const rtc = new RTCPeerConnection({ iceServers: [
    { urls: 'stun:127.0.0.1:${udpPort}' },
    { urls: ['turn:127.0.0.1:${udpPort}', 'turn:127.0.0.1:${port}?transport=tcp'], username: 'a', credential: 'b' },
  ] });
  rtc.createDataChannel('x');
  await rtc.setLocalDescription(await rtc.createOffer());
  while (rtc.iceGatheringState !== 'complete') await event(rtc, 'icegatheringstatechange');
  rtc.close();
  return 'done';
})()])`;

test('the victims count', async () => {
  for (const url of victimUrls()) await fetch(url.replace('a.localhost', 'localhost')).then((reply) => reply.text());
  expect(victims.hits()).toBeGreaterThan(0);
});

describe.each(['jailed', 'sandboxed'] as const)('out of a %s browser', (isolation) => {
  let browser: RunningBrowser;
  let tab: TestPage;
  let before: number;
  beforeAll(async () => {
    // The victims' names are on the list of hosts, too: the policy of addresses alone has to hold.
    const hosts = [PAGE_ADDRESS, '127.0.0.1', 'localhost', '*.localhost', '::1', '::ffff:127.0.0.1', '0.0.0.0'];
    browser = await startLocalBrowser({ hosts, listed: `${PAGE_ADDRESS}/32` }, { isolation });
    tab = await openPage(browser.cdp);
  });
  beforeEach(async () => {
    before = victims.hits();
    expect(await tab.go(`http://${PAGE_ADDRESS}:${site.port}/`)).toBeUndefined();
    expect(await tab.evaluate('document.title')).toBe('page');
  });
  afterEach(() => expect(victims.hits()).toBe(before));
  afterAll(async () => {
    browser.kill({ reason: 'stopped', detail: null });
    await browser.ended;
  });

  test('no address is reached, however it is written, and by no redirect', async () => {
    for (const url of victimUrls()) {
      await tab.go(url);
      expect(await tab.evaluate('document.body.innerText')).toContain('not among those');
      await tab.go(`http://${PAGE_ADDRESS}:${site.port}/to?url=${encodeURIComponent(url)}`);
      expect(await tab.evaluate('document.body.innerText')).toContain('not among those');
      expect(await tab.go(url.replace('http:', 'https:'))).toBe('net::ERR_TUNNEL_CONNECTION_FAILED');
    }
  });

  test('scripts reach nothing, by no protocol', async () => {
    expect(await tab.evaluate(waysOut(victimUrls(), victims))).toBe('done');
  });

  test('a context with a proxy of its own reaches nothing', async () => {
    const context = browser.cdp.send('Target.createBrowserContext', { proxyServer: 'direct://' });
    if (isolation === 'sandboxed') return expect(context).rejects.toThrow('not allowed');
    const { browserContextId } = await context;
    const other = await openPage(browser.cdp, { browserContextId });
    for (const url of victimUrls()) expect(await other.go(url)).toMatch(/^net::ERR_/);
    // A page of its own origin runs scripts; one that says what failed does not.
    await other.go('about:blank');
    expect(await other.evaluate(waysOut(victimUrls(), victims))).toBe('done');
  });

  test.each([
    'file:///etc/passwd',
    'view-source:file:///etc/passwd',
    'view-source:http://127.0.0.2/',
    'chrome://version',
    'chrome://policy',
    'chrome-untrusted://terminal',
    'devtools://devtools/bundled/inspector.html',
    'chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html',
    'filesystem:http://127.0.0.2/temporary/x',
    'ftp://127.0.0.1/',
  ])('%s does not open', async (url) => {
    const opened = await openPage(browser.cdp, { url });
    await expect(tab.go(url)).resolves.toMatch(/^net::ERR_/);
    const shown = await opened.evaluate<string>('location.href + document.body?.innerText');
    expect(shown).not.toMatch(/root:|Chromium:|Copyright/);
  });

  test('nothing is downloaded', async () => {
    await tab.go(`http://${PAGE_ADDRESS}:${site.port}/file`);
    await tab.evaluate(`for (const href of ['/file', 'data:text/plain,x', URL.createObjectURL(new Blob(['x']))])
      Object.assign(document.createElement('a'), { href, download: 'downloaded.txt' }).click()`);
    await tab.go(`http://${PAGE_ADDRESS}:${site.port}/`);
    const files = readdirSync(tmpdir())
      .filter((name) => name.startsWith(`browser-${process.pid}-`))
      .flatMap((name) => readdirSync(join(tmpdir(), name), { recursive: true, encoding: 'utf8' }));
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((name) => /downloaded|crdownload/.test(name))).toEqual([]);
  });

  test('its pages are run by a user without rights, behind a filter of system calls', () => {
    const renderers = processesOf(browser.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer'),
    );
    expect(renderers.length).toBeGreaterThan(0);
    for (const pid of renderers) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect(status).toMatch(/^Seccomp:\s+2$/m);
      // Real, effective, saved and of the file system; in tests that root runs: none of them is root's.
      if (process.getuid?.() === 0) expect(status).toMatch(/^Uid:(\s+58\d{3}){4}$/m);
    }
  });

  test('no file is chosen for an upload', async () => {
    const clicked = async (expression: string) => {
      const asked = { expression, userGesture: true, awaitPromise: true };
      return (await browser.cdp.send('Runtime.evaluate', asked, tab.sessionId)).result;
    };
    const upload = `new Promise((resolve) => {
      const input = Object.assign(document.createElement('input'), { type: 'file' });
      for (const name of ['cancel', 'change']) input.addEventListener(name, () => resolve([name, input.files.length].join()));
      document.body.append(input);
      input.click();
    })`;
    expect(await clicked(upload)).toMatchObject({ value: 'cancel,0' });
    const picker = `showOpenFilePicker().then(() => 'chosen', ({ name }) => name)`;
    expect(await clicked(picker)).toMatchObject({ value: expect.stringMatching(/^(Abort|NotAllowed|Security)Error$/) });
  });
});
