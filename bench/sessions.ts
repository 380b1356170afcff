import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { type BrowserHost, runBrowserHost } from '../activities/browser-host/browser-host.ts';
import type { Picture } from '../activities/browser-host/chromium/browser.ts';
import { processesOf } from '../activities/browser-host/chromium/processes.ts';
import { installRuntime } from '../activities/worker-runtime.ts';
import { parseHostConfig } from '../domain/kernel/settings/host-config.ts';
import { ANIMATED_PAGE, servePages } from '../test/support/pages.ts';
import { Outages } from '../domain/kernel/system/outages.ts';
import { hostEnvironment } from '../tools/host-environment.ts';
import { childrenOf, cpuTimes } from './cpu.ts';
import { Figures, quantile } from './figures.ts';
import { sessionsStage } from './sessions-stage.ts';

/**
 * Measures browser sessions on a browser host in this process, with the real workflow: record → live, fresh and from the
 * spare; memory; pictures of an animated page of 60 Hz, of one session that is watched and of four that are recorded.
 * Options: `--rounds 3`, `--sessions 5` of each kind in a round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, sessions: { type: 'string', default: '5' } },
});
const SESSIONS = Number(options.sessions);
const MEASURED_MS = 8_000;
const SETTLED_MS = 2_000;

const log = pino({ level: 'error' });
const outages = new Outages(log);
installRuntime(log, outages.reporter('temporal'));
const stage = await sessionsStage();
const { record, stop } = stage;
const pages = await servePages({ '/': ANIMATED_PAGE });
const figures = new Figures();
try {
  const startHost = (spares: number) =>
    runBrowserHost({
      config: parseHostConfig({ ...hostEnvironment(stage.service.env), BROWSER_SPARES: String(spares) }),
      log,
      outages,
    });
  const show = async (host: BrowserHost, id: string) => {
    const browser = host.browsers.find(id);
    const [tab] = browser?.tabs.list() ?? [];
    if (!browser || !tab) throw new Error('the session has no tab');
    await browser.cdp.send('Page.navigate', { url: pages.url }, tab.cdpSession);
    return { browser, tab };
  };
  const noteLive = (name: string, times: number[], [p50, p95]: [string, string]) => {
    figures.note(`${name}: p50`, quantile(times, 0.5), 'ms', p50);
    figures.note(`${name}: p95`, quantile(times, 0.95), 'ms', p95);
  };

  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}, load ${readFileSync('/proc/loadavg', 'utf8').slice(0, 14)}`);
    const fresh = await startHost(0);
    const times: number[] = [];
    for (let n = 0; n < SESSIONS; n++) {
      const { id, ms, isolation } = await record();
      if (n === 0 && round === 1) console.log(`isolation: ${isolation}`);
      times.push(ms);
      if (n === 0) {
        await sleep(SETTLED_MS);
        figures.note('memory of a session alone (PSS)', browserMegabytes(), 'MB', '<= 400');
      }
      const stopMs = await stop(id);
      if (n === 0) figures.note('stop -> playable', stopMs, 'ms', '<= 3000');
    }
    noteLive('record -> live, fresh', times, ['<= 1500', '<= 3000']);

    const one = await record();
    const { browser, tab } = await show(fresh, one.id);
    await sleep(SETTLED_MS);
    const ages: number[] = [];
    const unwatch = browser.tabs.watch(tab.id, 30, ({ atMs }) => ages.push(Date.now() - atMs));
    await sleep(MEASURED_MS);
    unwatch();
    figures.note('one watched session: pictures', (ages.length * 1_000) / MEASURED_MS, '/s', '>= 15');
    figures.note('one watched session: age p95', quantile(ages, 0.95), 'ms', '<= 150');
    await stop(one.id);

    const four = await Promise.all([record(), record(), record(), record()]);
    await sleep(SETTLED_MS);
    figures.note('memory of each of four sessions (PSS)', browserMegabytes() / 4, 'MB', '<= 250');
    const counts = await Promise.all(
      four.map(async ({ id }) => {
        const shown = await show(fresh, id);
        const pictures: Picture[] = [];
        return { pictures, unwatch: shown.browser.tabs.watch(shown.tab.id, 5, (picture) => pictures.push(picture)) };
      }),
    );
    await sleep(SETTLED_MS);
    for (const { pictures } of counts) pictures.length = 0;
    const before = cpuTimes({ all: process.pid }).all ?? 0;
    await sleep(MEASURED_MS);
    const cpu = ((cpuTimes({ all: process.pid }).all ?? 0) - before) / MEASURED_MS;
    const rates = counts.map(({ pictures }) => (pictures.length * 1_000) / MEASURED_MS);
    for (const each of counts) each.unwatch();
    figures.note('four animated sessions: pictures of the slowest', Math.min(...rates), '/s', '>= 5');
    figures.note('four animated sessions: host with browsers', cpu * 100, '%', '');
    await Promise.all(four.map(({ id }) => stop(id)));
    await fresh.stop();

    const warm = await startHost(1);
    const spareTimes: number[] = [];
    for (let n = 0; n < SESSIONS; n++) {
      await warm.browsers.warmUp();
      await sleep(SETTLED_MS);
      const { id, ms } = await record();
      spareTimes.push(ms);
      await stop(id);
    }
    noteLive('record -> live, from the spare', spareTimes, ['<= 400', '']);
    await warm.stop();
  }
  figures.print();
} finally {
  await Promise.all([stage.close(), pages.close()]);
}

/** Memory of all browsers of this process, where pages that several share count in parts. Each leads a session of processes. */
function browserMegabytes(): number {
  const kilobytes = childrenOf(process.pid)
    .flatMap((leader) => processesOf(leader))
    .map((pid) => {
      try {
        return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
      } catch {
        return 0; // It ended in between.
      }
    });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1_024;
}
