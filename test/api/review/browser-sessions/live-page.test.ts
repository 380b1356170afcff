import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pino } from 'pino';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createLiveServer, type LiveServer } from '../../../../activities/browser-host/live/live-server.ts';
import { viewerOf } from '../../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import { freePort } from '../../../support/free-port.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { type SessionStage, sessionStage } from '../../../support/browser-sessions.ts';
import { BROWSER_TIMEOUT_MS, launchChromium, PAGE_TIMEOUT_MS } from '../../../support/chromium.ts';
import type { Json } from '../../../support/client.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeSessionBrowser } from '../../../support/fake-session-browser.ts';
import { type SessionHost, sessionHost } from '../../../support/host-server.ts';
import { engineAway } from '../../../support/launch.ts';

let viewer: Browser;
let app: TestApp;
let stage: SessionStage;
let host: SessionHost;
let live: LiveServer;
let axe: string;
let jpeg: Buffer;
let fake: FakeSessionBrowser;
let session: { id: string };
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  viewer = await launchChromium();
  const port = await freePort();
  app = await testApp({ launch: engineAway, env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` } });
  stage = await sessionStage(app);
  live = createLiveServer({
    browsers: { find: (id) => (id === session.id ? fake : undefined) },
    noteControl: async () => undefined,
    log: pino({ level: 'silent' }),
  });
  host = await sessionHost(app, {
    onLive: (socket, { grant }) => live.accept(socket, grant.sessionId, viewerOf(grant)),
    onPictures: (response, { grant }) => live.stream(response, grant.sessionId, viewerOf(grant)),
  });
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const blank = await viewer.newPage({ viewport: { width: 1_280, height: 720 } });
  await blank.setContent('<body style="background:#fed"><h1>Shop</h1>');
  jpeg = await blank.screenshot({ type: 'jpeg' });
  await blank.close();
}, BROWSER_TIMEOUT_MS);
afterAll(async () => {
  await viewer.close();
  await app.close();
  await host.close();
});
beforeEach(async () => {
  fake = new FakeSessionBrowser();
  const { owner: _, ...parts } = fake;
  session = await host.allocate(stage, parts);
});
afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));

const path = () => `/browser-sessions/${session.id}/live`;
async function visitor(options: { javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const context = await viewer.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
  return page;
}
/** Opens the page as somebody who signs in on the way. */
async function signedIn(who = app.owner, at = path()): Promise<Page> {
  const page = await visitor();
  await page.goto(app.url + at);
  await signIn(page, who);
  await page.waitForURL(`${app.url}${at}`);
  return page;
}
async function signIn(page: Page, who = app.owner): Promise<void> {
  await page.getByLabel('E-mail').fill(who.email);
  await page.getByLabel('Password').fill(who.password);
  await page.keyboard.press('Enter');
}
async function seesPicture(page: Page): Promise<void> {
  await eventually(
    async () => {
      fake.take(0, jpeg);
      return page.locator('#picture').getAttribute('data-pictures');
    },
    (drawn) => Number(drawn) > 0,
  );
}
async function takeControl(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Take control' }).click();
  await page.getByRole('button', { name: 'Leave control' }).waitFor();
}
const typed = (kind: string) =>
  fake.input.filter(({ method }) => method === `Input.${kind}`).map(({ params }) => params);
const gets = (kind: string, count: number) =>
  eventually(
    async () => typed(kind),
    ({ length }) => length >= count,
  );
async function violations(page: Page): Promise<string[]> {
  // The policy of the page admits no script from here.
  const client = await page.context().newCDPSession(page);
  await client.send('Runtime.evaluate', { expression: axe });
  return page.evaluate<string[]>(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html)))`,
  );
}

test('somebody signs in, sees pictures, takes control, and works by mouse, keys, input method and clipboard', async () => {
  const page = await signedIn();
  const refused: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) refused.push(message.text());
  });
  await seesPicture(page);
  expect(await violations(page)).toEqual([]);
  const canvas = page.locator('#picture');
  await canvas.click();
  expect(fake.input).toEqual([]);

  await takeControl(page);
  expect(await violations(page)).toEqual([]);
  const box = (await canvas.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const mouse = await gets('dispatchMouseEvent', 3);
  expect(mouse.find(({ type }) => type === 'mousePressed')).toMatchObject({
    x: 640,
    y: 360,
    button: 'left',
    clickCount: 1,
  });
  await page.mouse.wheel(0, 240);
  await eventually(
    async () => typed('dispatchMouseEvent').at(-1),
    (last) => last?.type === 'mouseWheel',
  );

  await page.keyboard.press('Shift+A');
  await page.keyboard.press('Enter');
  const keys = await gets('dispatchKeyEvent', 6);
  expect(keys.filter(({ text }) => text !== undefined).map(({ text }) => text)).toEqual(['A', '\r']);

  const client = await page.context().newCDPSession(page);
  await client.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
  await client.send('Input.insertText', { text: '日本' });
  expect((await gets('imeSetComposition', 1))[0]).toMatchObject({ text: 'にほん', selectionStart: 3 });
  expect((await gets('insertText', 1))[0]).toEqual({ text: '日本' });
  await page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'pasted\\ntext');
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`);
  expect((await gets('insertText', 2))[1]).toEqual({ text: 'pasted\ntext' });
  expect(refused).toEqual([]);
});

test('the keyboard alone is enough: Tab goes to the browser, and F6 leaves it', async () => {
  const page = await signedIn();
  await seesPicture(page);
  await page.getByRole('button', { name: 'Take control' }).focus();
  await page.keyboard.press('Enter');
  const typing = page.getByLabel(/F6 leaves it/);
  await typing.waitFor({ state: 'attached' });
  const focused = () => page.evaluate<string>('document.activeElement.id');
  for (let count = 0; (await focused()) !== 'typing' && count < 12; count++) await page.keyboard.press('Tab');
  expect(await focused()).toBe('typing');
  await page.keyboard.press('Tab');
  await page.keyboard.press('x');
  expect((await gets('dispatchKeyEvent', 4)).map(({ key }) => key)).toEqual(expect.arrayContaining(['Tab', 'x']));
  expect(await focused()).toBe('typing');
  await page.keyboard.press('F6');
  expect(await focused()).toBe('control');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Take control' }).waitFor();
});

test('another watches, takes over, and chooses and opens tabs; the one before is told', async () => {
  const [ada, ben] = [await signedIn(), await signedIn()];
  await seesPicture(ada);
  await seesPicture(ben);
  await takeControl(ada);
  await ben.getByText(`${app.owner.email} – in control`).waitFor();
  await takeControl(ben);
  await ada.getByText(`${app.owner.email} has taken control`).waitFor();
  await ben.getByRole('button', { name: 'New tab', exact: true }).first().click();
  await ada.locator('#tabs button[aria-pressed=true]', { hasText: 'New tab' }).waitFor();
  await ada.locator('#tabs').getByRole('button', { name: 'Shop' }).click();
  await ada.getByRole('button', { name: 'Follow' }).click();
  await ben.getByLabel('Address of the page').fill('https://shop.example.com/cart');
  await ben.keyboard.press('Enter');
  await eventually(
    async () => fake.asked.join(),
    (asked) => asked.includes('/cart'),
  );
  await ben.getByRole('button', { name: 'Close tab New tab' }).click();
  await ada.locator('#tabs li').nth(1).waitFor({ state: 'detached' });
});

test('a member watches the session of somebody else, and cannot change it', async () => {
  const page = await signedIn(app.member);
  await seesPicture(page);
  for (const name of ['Take control', 'Extend by 10 minutes', 'Stop'])
    expect(await page.getByRole('button', { name }).isVisible()).toBe(false);
});

test('a guest comes by a link; when it is revoked the picture goes', async () => {
  const links = `/api/browser-sessions/${session.id}/live-links`;
  const link: Json = await app.as(app.owner).post(201, links, { mode: 'control', minutes: 10 });
  const page = await visitor();
  await page.goto(link.url);
  expect(page.url()).toBe(app.url + path());
  await seesPicture(page);
  await takeControl(page);
  await app.as(app.owner).delete(204, `${links}/${link.id}`);
  await page.getByText('You are not let in any more').waitFor();
  expect(await page.locator('#screen').isVisible()).toBe(false);
  expect(await violations(page)).toEqual([]);
});

test('a guest is told why the session ended, and so the link', async () => {
  const link: Json = await app
    .as(app.owner)
    .post(201, `/api/browser-sessions/${session.id}/live-links`, { mode: 'watch', minutes: 10 });
  const page = await visitor();
  await page.goto(link.url);
  await seesPicture(page);
  fake.end({ reason: 'stopped', detail: null });
  await app.as(app.owner).post(200, `/api/browser-sessions/${session.id}/stop`, {});
  await page.getByText('It was stopped.').waitFor();
  expect(await page.getByRole('heading', { name: 'The session has ended' }).isVisible()).toBe(true);
});

test('by what a page asks is shown to all, and answered by who controls', async () => {
  const page = await signedIn();
  await seesPicture(page);
  const dialog = { number: 1, kind: 'confirm', message: 'Delete the newspaper?', proposal: '' } as const;
  fake.ask(0, dialog);
  const shown = page.getByRole('alertdialog', { name: 'The page asks' });
  await shown.getByText('Delete the newspaper?').waitFor();
  await shown.getByText('Whoever controls the browser answers.').waitFor();
  expect(await shown.getByRole('button').count()).toBe(0);
  await takeControl(page);
  expect(fake.attending.size).toBe(1);
  expect(await violations(page)).toEqual([]);
  await shown.getByRole('button', { name: 'Cancel' }).click();
  await shown.waitFor({ state: 'hidden' });

  fake.ask(0, { ...dialog, number: 2, kind: 'prompt', message: 'Its name?', proposal: 'Daily' });
  await shown.getByLabel('Your answer').fill('Weekly');
  await page.keyboard.press('Enter');
  await shown.waitFor({ state: 'hidden' });
  // What is typed while a page asks does not reach it, and agrees to nothing.
  fake.ask(0, { ...dialog, number: 3 });
  await shown.waitFor();
  await page.keyboard.press('Escape');
  await shown.waitFor({ state: 'hidden' });
  fake.ask(0, { ...dialog, number: 4, kind: 'alert', message: 'Deleted.' });
  await page.getByRole('alertdialog', { name: 'The page says' }).getByRole('button', { name: 'OK' }).click();
  await eventually(
    async () => fake.answers,
    ({ length }) => length === 4,
  );
  expect(fake.answers).toEqual([
    { accept: false, text: undefined },
    { accept: true, text: 'Weekly' },
    { accept: false, text: undefined },
    { accept: true, text: undefined },
  ]);
  expect(fake.input).toEqual([]);
});

test('Extend moves the end, Stop ends the session, and the page says why it ended', async () => {
  const page = await signedIn();
  await seesPicture(page);
  const before = (await stage.read(session.id)).expires_at;
  await app.sql(`update browser_session set expires_at = now() + interval '5 minutes' where id = ?`, [session.id]);
  await page.getByRole('button', { name: 'Extend by 10 minutes' }).click();
  await page.getByText('The session lasts until').waitFor();
  expect((await stage.read(session.id)).expires_at).not.toBe(before);
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Stop' }).click();
  await eventually(
    () => stage.read(session.id),
    ({ status }: Json) => status === 'ended',
  );
  fake.end({ reason: 'stopped', detail: null });
  await page.getByText('The session has ended').waitFor();
  await page.getByText('It was stopped.').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('the page waits for a browser that starts, and connects again to one that was away', async () => {
  await app.sql(`update browser_session set status = 'provisioning' where id = ?`, [session.id]);
  const page = await signedIn();
  await page.getByText('The browser is starting').waitFor();
  await app.sql(`update browser_session set status = 'live' where id = ?`, [session.id]);
  await seesPicture(page);
  // The host closes all sockets, as when it is away for a moment.
  const watches = [...fake.watches];
  live.close();
  await eventually(
    async () => fake.watches.size === 1 && !watches.some((watch) => fake.watches.has(watch)),
    (is) => is,
  );
  await page.locator('#picture').evaluate('(canvas) => void (canvas.dataset.pictures = 0)');
  await seesPicture(page);
});

test('without a script the picture of a still page comes as an image', async () => {
  const page = await visitor({ javaScriptEnabled: false });
  await page.goto(`${app.url}/api/auth/sign-in`);
  await signIn(page);
  await page.waitForURL(`${app.url}/docs`);
  await page.goto(`${app.url}${path()}?view=mjpeg`, { waitUntil: 'commit' });
  await eventually(
    async () => fake.watches.size,
    (count) => count > 0,
  );
  const image = page.locator('#stage img');
  const before = await image.screenshot();
  fake.take(0, jpeg);
  await eventually(
    () => image.screenshot(),
    (shown) => !shown.equals(before),
  );
  expect([...fake.watches].map(({ maxPerSecond }) => maxPerSecond)).toEqual([5]);
});
