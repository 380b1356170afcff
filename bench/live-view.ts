import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ANIMATED_PAGE, servePages } from '../test/support/pages.ts';
import { cpuTimes } from './cpu.ts';
import { Figures, quantile } from './figures.ts';
import { LiveViewer } from './live-viewer.ts';
import { sessionsStage } from './sessions-stage.ts';

/**
 * Measures the live view of a session that shows an animated page at 1280×720, through the sockets of the API process and a
 * browser host in a process of its own: pictures and their age on arrival, for one viewer and for ten of which one reads
 * slowly. The viewers share this process, which serves the page, too. Options: `--rounds 3`.
 */
const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const VIEWERS = 10;
const MEASURED_MS = 8_000;
const SETTLED_MS = 2_000;

const stage = await sessionsStage();
const { service } = stage;
const pages = await servePages({ '/': ANIMATED_PAGE });
const figures = new Figures();
try {
  const host = await service.start('../activities/browser-host/main.ts');
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}, load ${readFileSync('/proc/loadavg', 'utf8').slice(0, 14)}`);
    const { id, isolation } = await stage.record();
    if (round === 1) console.log(`isolation: ${isolation}`);
    const first = await LiveViewer.open(service, id);
    first.send({ type: 'control', take: true });
    first.send({ type: 'go', url: pages.url });
    await sleep(SETTLED_MS);
    await measure('one viewer', [first], host.pid ?? 0);

    const others = await Promise.all(Array.from({ length: VIEWERS - 1 }, () => LiveViewer.open(service, id)));
    const [slow, ...quick] = others;
    slow?.readSlowly();
    await sleep(SETTLED_MS);
    await measure(`the ${quick.length + 1} quick of ten viewers`, [first, ...quick], host.pid ?? 0, slow);
    for (const viewer of [first, ...others]) viewer.close();
    await stage.stop(id);
  }
  figures.print();
} finally {
  await Promise.all([stage.close(), pages.close()]);
}

async function measure(name: string, viewers: LiveViewer[], hostPid: number, slow?: LiveViewer): Promise<void> {
  const all = slow ? [...viewers, slow] : viewers;
  const cpuOf = service.measureCpu();
  const hostBefore = cpuTimes({ host: hostPid }).host ?? 0;
  for (const viewer of all) viewer.forget();
  await sleep(MEASURED_MS);
  const taken = all.map((viewer) => ({ ages: viewer.ages, bytes: viewer.bytes }));
  const quick = taken.slice(0, viewers.length);
  const ages = quick.flatMap((each) => each.ages);
  const perSecond = (count: number) => (count * 1_000) / MEASURED_MS;
  const slowest = Math.min(...quick.map((each) => each.ages.length));
  figures.note(`${name}: pictures${slow ? ', the fewest' : ''}`, perSecond(slowest), '/s', '>= 15');
  figures.note(`${name}: age p50`, quantile(ages, 0.5));
  figures.note(`${name}: age p95`, quantile(ages, 0.95), 'ms', '<= 150');
  const slowOne = slow && taken.at(-1);
  if (slowOne) figures.note('the slow one of ten: pictures', perSecond(slowOne.ages.length), '/s');
  const bytes = quick.reduce((sum, each) => sum + each.bytes, 0);
  figures.note(`${name}: size of a picture`, bytes / ages.length / 1_024, 'kB');
  const share = (ms: number) => (ms / MEASURED_MS) * 100;
  figures.note(`${name}: API`, share(cpuOf().API ?? 0), '%');
  figures.note(`${name}: host with its browser`, share((cpuTimes({ host: hostPid }).host ?? 0) - hostBefore), '%');
}
