import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { buildConsole } from '../../tools/console/build.ts';
import { type Caller, type TestApp, testApp, type TestAppOptions } from './app.ts';
import { launchChromium, PAGE_TIMEOUT_MS } from './chromium.ts';
import { freePort } from './free-port.ts';

export interface OpenOptions {
  width?: number;
  theme?: 'light' | 'dark';
  context?: BrowserContextOptions;
  /** Keys of the browser's storage, set before the page is loaded. */
  storage?: Record<string, string>;
}

export interface ConsolePage extends Page {
  /** What the page complained of: failures of scripts, and what its policy refused. */
  complaints: string[];
}

export interface ConsoleStage {
  app: TestApp;
  /** Opens a page of the console, signed in as the caller, in a browser context of its own. */
  open: (caller: Caller | undefined, path: string, options?: OpenOptions) => Promise<ConsolePage>;
  close: () => Promise<void>;
}

/** The service with its console built, and a browser. */
export async function consoleStage(options: TestAppOptions = {}): Promise<ConsoleStage> {
  const port = await freePort();
  const [app, browser] = await Promise.all([
    testApp({ ...options, env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}`, ...options.env } }),
    launchChromium(),
    buildConsole(() => undefined),
  ]);
  return {
    app,
    open: (caller, path, more) => openConsole({ app, browser }, caller, path, more),
    async close() {
      await browser.close();
      await app.close();
    },
  };
}

async function openConsole(
  { app, browser }: { app: TestApp; browser: Browser },
  caller: Caller | undefined,
  path: string,
  { width = 1280, theme = 'light', context: given, storage = {} }: OpenOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...given,
  });
  if (caller) await context.request.post(`${app.url}/api/auth/callback`, { data: { access_token: caller.token } });
  await context.addInitScript((entries) => {
    for (const [key, value] of entries) localStorage.setItem(key, value);
  }, Object.entries(storage));
  const page = await context.newPage();
  page.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy|Uncaught/i.test(message.text())) complaints.push(message.text());
  });
  await page.goto(`${app.url}/console/${path.replace(/^\//, '')}`);
  return Object.assign(page, { complaints });
}

let axe: Promise<string> | undefined;

/** What axe finds against WCAG 2.2 AA in the page as it is, one line for each. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  axe ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(await axe);
  return page.evaluate(`axe
    .run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 200))))`);
}

/** Whether something is wider than the window, so that the page as a whole would scroll to the side. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** What reaches beyond the window's right edge, where the page as a whole would scroll. */
const beyondWindow = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > width + 0.5)
      .map((element) => element.outerHTML.slice(0, 160));
  })()`);

/** Keeps a picture of the page in the folder `SCREENSHOTS`, if it is set, to be looked at. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Each theme at each width: what every page is looked at in. */
export const LOOKS = [
  { width: 1280, theme: 'light' },
  { width: 1280, theme: 'dark' },
  { width: 390, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const;

/**
 * What every page must hold in both themes and at both widths: nothing that axe finds, nothing that its policy refused, and no
 * need to scroll to the side. `shown` waits until the page shows what it is about.
 */
export async function assertSound(
  { open }: Pick<ConsoleStage, 'open'>,
  caller: Caller,
  path: string,
  shown: (page: ConsolePage) => Promise<unknown>,
): Promise<void> {
  const page = await open(caller, path);
  for (const { width, theme } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    // Styles for another width hold from the next picture on.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    await shown(page);
    await picture(page, `${path.replaceAll(/\W+/g, '-')}-${width}-${theme}`);
    const found = {
      axe: await accessibilityProblems(page),
      complaints: page.complaints,
      beyond: await beyondWindow(page),
    };
    if (Object.values(found).some(({ length }) => length > 0))
      throw new Error(`${path} at ${width} px, ${theme}: ${JSON.stringify(found, null, 1)}`);
  }
  await page.context().close();
}
