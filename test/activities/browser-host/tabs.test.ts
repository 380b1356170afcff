import type { Picture, RunningBrowser, Tab } from '../../../activities/browser-host/chromium/browser.ts';
import { BrowserTabs, TABS_MAX } from '../../../activities/browser-host/automation/tabs.ts';
import { ANIMATED_PAGE, servePages } from '../../support/pages.ts';
import { startLocalBrowser } from '../../support/local-browsers.ts';
import { eventually } from '../../support/worker.ts';

const viewport = { width: 1_000, height: 600 };
const PAGES = {
  '/animated': ANIMATED_PAGE,
  '/still': '<title>Still</title>still',
  '/count': `<title>0</title><script>let n = 0; setInterval(() => { document.body.textContent = ++n; }, 50)</script><body>`,
  '/dialogs': `<title>Asking</title><script>setTimeout(() => { for (let n = 0; n < 20; n++) confirm('Again?'); document.title = 'Asked' })</script>`,
  '/secur/frontdoor.jsp': 'no title',
  '/closing': `<script>setTimeout(() => window.close(), 200)</script>`,
};

let pages: Awaited<ReturnType<typeof servePages>>;
let browser: RunningBrowser;
let tabs: BrowserTabs;
/** The only one, opened anew for each test. */
let only: Tab;
const watching: (() => void)[] = [];
let notes: string[] = [];
let isNoneLeft: boolean;
/** Titles and addresses of the tabs at each change. */
let shown: string[] = [];

beforeAll(async () => {
  pages = await servePages(PAGES);
  browser = await startLocalBrowser({}, { viewport });
  isNoneLeft = false;
  tabs = await BrowserTabs.of(browser.cdp, {
    viewport,
    onNote: ({ kind }) => notes.push(kind),
    onNoneLeft: () => {
      isNoneLeft = true;
    },
  });
  tabs.onChange(() => shown.push(...tabs.list().map(({ title, url }) => `${title} ${url}`)));
});
beforeEach(async () => {
  const [last, ...others] = tabs.list();
  for (const { id } of others) await tabs.close(id);
  await isAlone();
  only = await tabs.open('about:blank');
  if (last) await tabs.close(last.id);
  await isAlone();
  for (const stop of watching.splice(0)) stop();
  notes = [];
  shown = [];
});
afterAll(async () => {
  browser.kill({ reason: 'stopped', detail: null });
  await Promise.all([browser.ended, pages.close()]);
});

const isAlone = () =>
  eventually(
    async () => tabs.list().length,
    (length) => length === 1,
  );
const first = (): Tab => only;
const go = (path: string, tab = first()) =>
  browser.cdp.send('Page.navigate', { url: pages.url + path }, tab.cdpSession);
const titled = (title: string) =>
  eventually(
    async () => first().title,
    (found) => found === title,
  );
const evaluate = (expression: string, tab = first()) =>
  browser.cdp.send('Runtime.evaluate', { expression }, tab.cdpSession);

/** Pictures of a tab from now on. */
function watch(tab: Tab, maxPerSecond: number) {
  const pictures: Picture[] = [];
  const stop = tabs.watch(tab.id, maxPerSecond, (picture) => pictures.push(picture));
  watching.push(stop);
  const some = (count: number) =>
    eventually(
      async () => pictures.length,
      (length) => length >= count,
    );
  return { pictures, stop, some };
}

test('the title and the address of a front door, a credential, are not kept', async () => {
  await go('/secur/frontdoor.jsp?sid=secret');
  await eventually(
    () => evaluate('location.pathname'),
    ({ result }) => (result as { value: string }).value === '/secur/frontdoor.jsp',
  );
  const { targetInfos } = await browser.cdp.send('Target.getTargets');
  expect(JSON.stringify(targetInfos)).toContain('frontdoor.jsp?sid=secret');
  await go('/still?first=1');
  await titled('Still');
  expect(shown.filter((text) => /frontdoor|secret/.test(text))).toEqual([]);
  expect(shown.at(-1)).toContain('/still?first=1');
});

test('pictures are taken while somebody watches, as often as each wants, in the size of the page', async () => {
  const startedAtMs = Date.now();
  await go('/animated');
  const quick = watch(first(), 20);
  await quick.some(10);
  const slow = watch(first(), 2);
  expect(slow.pictures).toHaveLength(1);
  const before = quick.pictures.length;
  await slow.some(4);
  expect(quick.pictures.length - before).toBeGreaterThan(slow.pictures.length);
  const [picture] = slow.pictures;
  expect(picture).toMatchObject(viewport);
  expect(picture?.jpeg.subarray(0, 2).toString('hex')).toBe('ffd8');
  expect(picture?.atMs).toBeGreaterThan(startedAtMs - 1_000);
  expect(picture?.atMs).toBeLessThanOrEqual(Date.now() + 1_000);
  slow.stop();
  quick.stop();
  const after = quick.pictures.length;
  // A second watcher finds it going again.
  await watch(first(), 20).some(3);
  expect(quick.pictures).toHaveLength(after);
});

test('the last state of a page is shown, although pictures of what came before it were not wanted', async () => {
  await go('/still');
  await titled('Still');
  const { pictures, some } = watch(first(), 1);
  await some(1);
  const lengths = () => pictures.map(({ jpeg }) => jpeg.length);
  for (let n = 1; n <= 8; n++) await evaluate(`document.body.textContent = 'changed '.repeat(${n * 200})`);
  // Far more text than in any picture before.
  await eventually(
    async () => lengths(),
    (all) => (all.at(-1) ?? 0) > 100_000,
  );
});

test('a tab behind another one is still seen', async () => {
  await go('/count');
  const behind = watch(first(), 10);
  await behind.some(2);
  const front = await tabs.open(`${pages.url}/count`);
  expect(front.number).toBe(first().number + 1);
  await tabs.activate(front.id);
  const inFront = watch(front, 10);
  await Promise.all([behind.some(behind.pictures.length + 10), inFront.some(10)]);
});

test('the 11th tab is closed and noted', async () => {
  for (let n = 1; n < TABS_MAX; n++) await tabs.open('about:blank');
  await expect(tabs.open(`${pages.url}/still`)).rejects.toThrow('There are 10 tabs already');
  await browser.cdp.send('Target.createTarget', { url: `${pages.url}/still` });
  await eventually(
    async () => notes,
    (all) => all.includes('tab_refused'),
  );
  expect(tabs.list()).toHaveLength(TABS_MAX);
  expect(tabs.list().map(({ number }) => number - first().number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('dialogs without end hold nothing up', async () => {
  await go('/dialogs');
  await titled('Asked');
  expect(notes.filter((kind) => kind === 'dialog')).toHaveLength(3);
});

test('a tab that crashes is loaded again, three times', async () => {
  await go('/animated');
  await titled('Animated');
  const { pictures } = watch(first(), 10);
  for (let n = 1; n <= 4; n++) {
    const seen = pictures.length;
    await eventually(
      async () => pictures.length,
      (length) => length > seen + 2,
    );
    void browser.cdp.send('Page.crash', {}, first().cdpSession).catch(() => undefined);
    await eventually(
      async () => notes,
      (all) => all.length >= n,
    );
  }
  expect(notes).toEqual(['tab_crashed', 'tab_crashed', 'tab_crashed', 'tab_crashed']);
});

test('the page that closes the last tab is noticed', async () => {
  const { id } = first();
  await tabs.open(`${pages.url}/closing`);
  await tabs.close(id);
  await eventually(
    async () => isNoneLeft,
    (is) => is,
  );
});
