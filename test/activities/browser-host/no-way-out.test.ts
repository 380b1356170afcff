import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningBrowser } from '../../../activities/browser-host/chromium/browser.ts';
import { processesOf } from '../../../activities/browser-host/chromium/processes.ts';
import { openPage, startLocalBrowser, type TestPage } from '../../support/local-browsers.ts';
import { eventually } from '../../support/eventually.ts';
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

interface Tried {
  /** Ways that were begun, and have failed or succeeded. */
  tried: string[];
  /** Ways that a page like this one does not have. */
  missing: string[];
}

/**
 * Runs in the page; answers when each way that it has was begun, and has failed or succeeded.
 * @param rtcUntil without a network the gathering of addresses begins, and never completes.
 */
const waysOut = (
  urls: readonly string[],
  { port, udpPort }: Victims,
  rtcUntil: 'gathering' | 'complete',
) => `(async () => {
  const [tried, missing, ended] = [[], [], []];
  // What cannot even be constructed throws at once; a way that was begun answers a promise.
  const way = (name, begin) => {
    let begun;
    try { begun = begin(); } catch { return void missing.push(name); }
    tried.push(name);
    ended.push(Promise.resolve(begun).catch(() => undefined));
  };
  const event = (target, ...names) => new Promise((resolve) => {
    for (const name of names) target.addEventListener(name, () => resolve(name));
  });
  const element = (name, attributes, parent = document.body) => {
    const made = Object.assign(document.createElement(name), attributes);
    const done = event(made, 'load', 'error');
    parent.append(made);
    return done;
  };
  // These two say nothing, whatever comes of them.
  for (const [rel, href] of [['preconnect', ${JSON.stringify(urls[0])}], ['dns-prefetch', '//localhost']])
    document.head.append(Object.assign(document.createElement('link'), { rel, href }));
  way('rtc', () => {
    const rtc = new RTCPeerConnection({ iceServers: [
      { urls: 'stun:127.0.0.1:${udpPort}' },
      { urls: ['turn:127.0.0.1:${udpPort}', 'turn:127.0.0.1:${port}?transport=tcp'], username: 'a', credential: 'b' },
    ] });
    rtc.createDataChannel('x');
    return (async () => {
      await rtc.setLocalDescription(await rtc.createOffer());
      while (![${JSON.stringify(rtcUntil)}, 'complete'].includes(rtc.iceGatheringState)) await event(rtc, 'icegatheringstatechange');
    })();
  });
  way('webtransport', () => new WebTransport('https://127.0.0.1:${udpPort}/').ready);
  way('prefetch', () => element('link', { rel: 'prefetch', href: ${JSON.stringify(urls[0])} }, document.head));
  for (const url of ${JSON.stringify(urls)}) {
    way('fetch', () => fetch(new Request(url)));
    way('post', () => fetch(new Request(url, { mode: 'no-cors', method: 'POST', body: 'x' })));
    way('redirect', () => fetch(new Request('/to?url=' + encodeURIComponent(url), { mode: 'no-cors' })));
    way('img', () => element('img', { src: url }));
    way('script', () => element('script', { src: url }));
    way('iframe', () => element('iframe', { src: url }));
    way('websocket', () => event(new WebSocket(url.replace('http', 'ws')), 'error', 'open'));
    way('eventsource', () => event(new EventSource(url), 'error', 'open'));
    way('beacon', () => navigator.sendBeacon(url, 'x'));
  }
  await Promise.all(ended);
  return { tried, missing };
})()`;
const ONCE = ['rtc', 'webtransport', 'prefetch'];
const OF_EACH_URL = ['fetch', 'post', 'redirect', 'img', 'script', 'iframe', 'websocket', 'eventsource', 'beacon'];
/** Every way, of which a page lacks these. */
const allTried = (lacking: readonly string[] = []): Tried => {
  const all = [...ONCE, ...victimUrls().flatMap(() => OF_EACH_URL)];
  const isLacking = (name: string) => lacking.includes(name);
  return { tried: all.filter((name) => !isLacking(name)), missing: all.filter(isLacking) };
};

test('the victims count', async () => {
  for (const url of victimUrls()) await fetch(url.replace('a.localhost', 'localhost')).then((reply) => reply.text());
  expect(victims.hits()).toBeGreaterThan(0);
});

describe.each(['jailed', 'sandboxed'] as const)('out of a %s browser', (isolation) => {
  let browser: RunningBrowser;
  let tab: TestPage;
  let before: number;
  const rtcUntil = isolation === 'jailed' ? 'gathering' : 'complete';
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
    const refusedBefore = new Map(browser.egress.refused);
    expect(await tab.evaluate(waysOut(victimUrls(), victims, rtcUntil))).toEqual(allTried());
    // Each of these was asked for by every way, and by beacons, which tell nobody what became of them: it came as far as the
    // one way out.
    const asked = ['127.0.0.1', 'localhost', 'a.localhost', '0.0.0.0', '[::1]', '[::ffff:7f00:1]'];
    await eventually(
      async () => asked.map((host) => (browser.egress.refused.get(host) ?? 0) - (refusedBefore.get(host) ?? 0)),
      (counts) => counts.every((count) => count >= OF_EACH_URL.length),
    );
  });

  test('a context with a proxy of its own reaches nothing', async () => {
    const context = browser.cdp.send('Target.createBrowserContext', { proxyServer: 'direct://' });
    if (isolation === 'sandboxed') return expect(context).rejects.toThrow('not allowed');
    const { browserContextId } = await context;
    const other = await openPage(browser.cdp, { browserContextId });
    for (const url of victimUrls()) expect(await other.go(url)).toMatch(/^net::ERR_/);
    // A page of its own origin runs scripts; one that says what failed does not.
    await other.go('about:blank');
    expect(await other.evaluate(waysOut(victimUrls(), victims, rtcUntil))).toEqual(
      allTried(['redirect', 'webtransport']),
    );
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
    await browser.cdp.send('Target.closeTarget', { targetId: opened.targetId });
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
