import { readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { launchChromium } from '../test/support/chromium.ts';
import { buildConsole } from '../tools/console/build.ts';
import { Figures, quantile } from './figures.ts';
import { fillMatrix, repositoryIdentifier } from './matrix-stage.ts';
import { type Service, startService } from './service.ts';

/**
 * Measures the web console in a real browser on this machine: its build, its first script packed, the first page of a cold
 * browser, a later page, and the matrix of 10,000 candidates: drawn, worked by keys, its nodes. Options: `--rounds 3`,
 * `--keys 60`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, keys: { type: 'string', default: '60' } },
});
const DIST = new URL('../console/dist/', import.meta.url);
const KIB = 1_024;
/** A fast typist's. */
const KEY_PAUSE_MS = 100;
const figures = new Figures();

interface Vitals {
  paintMs: number;
  shift: number;
}

/** What the browser itself noted of a page: its first contentful paint, and by how much things moved. */
const vitalsOf = (page: Page): Promise<Vitals> =>
  page.evaluate(`new Promise((resolve) => {
    let shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      resolve({ paintMs: paint ? paint.startTime : NaN, shift });
    }, 300);
  })`);

async function noteBuild(): Promise<void> {
  rmSync(new URL('.sources', DIST), { force: true });
  const began = performance.now();
  await buildConsole(() => undefined);
  figures.note('build', (performance.now() - began) / 1_000, 's', '<= 20');
  const manifest = JSON.parse(readFileSync(new URL('manifest.json', DIST), 'utf8')) as Record<string, { file: string }>;
  const first = manifest['index.html']?.file ?? '';
  figures.note('first script, packed', readFileSync(new URL(`${first}.gz`, DIST)).byteLength / KIB, 'KiB', '<= 150');
}

/** The time from a key to the next picture, in a grid that has the focus. */
async function noteKeys(page: Page): Promise<void> {
  await page.evaluate(`globalThis.keyTimes = [];
    addEventListener('keydown', () => {
      const at = performance.now();
      requestAnimationFrame(() => setTimeout(() => globalThis.keyTimes.push(performance.now() - at)));
    }, { capture: true })`);
  const keys = Number(options.keys);
  for (let index = 0; index < keys; index++) {
    await page.keyboard.press(index % 3 === 2 ? 'ArrowRight' : 'ArrowDown');
    await page.waitForTimeout(KEY_PAUSE_MS);
  }
  await page.waitForFunction(`globalThis.keyTimes.length >= ${keys}`);
  const times = await page.evaluate<number[]>('globalThis.keyTimes');
  figures.note('matrix: a key until it is drawn, p95', quantile(times, 0.95), 'ms', '<= 100');
}

async function measure({ url, ownerToken }: Service): Promise<void> {
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    await context.request.post(`${url}/api/auth/callback`, { data: { access_token: ownerToken } });
    const page = await context.newPage();
    await page.goto(`${url}/console/`, { waitUntil: 'commit' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('article, main h2').first().waitFor();
    figures.note('first page, cold: content', await page.evaluate<number>('performance.now()'), 'ms', '<= 1,500');
    const { paintMs, shift } = await vitalsOf(page);
    figures.note('first page, cold: first paint', paintMs, 'ms', '<= 800');
    figures.note('first page, cold: shift', shift * 1_000, '‰', '<= 50');

    let began = performance.now();
    await page.getByRole('navigation').getByRole('link', { name: 'Environments' }).click();
    await page.getByRole('heading', { name: 'Environments', level: 1 }).waitFor();
    figures.note('a later page', performance.now() - began, 'ms', '<= 200');

    await page.goto(`${url}/console/where?project=${repositoryIdentifier}`);
    began = await page.evaluate<number>('performance.now()');
    await page.getByRole('gridcell').first().waitFor();
    figures.note('matrix: content after its page', (await page.evaluate<number>('performance.now()')) - began, 'ms');
    await page.getByRole('gridcell').first().focus();
    await noteKeys(page);
    figures.note('matrix: nodes', await page.evaluate<number>('document.querySelectorAll("*").length'), '', '<= 1,500');
    await context.close();
  } finally {
    await browser.close();
  }
}

const service = await startService([]);
try {
  await fillMatrix(service);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    await noteBuild();
    await measure(service);
  }
  figures.print();
} finally {
  await service.stop();
}
