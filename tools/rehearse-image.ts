import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPrograms } from '../activities/browser-host/chromium/programs.ts';
import { compose, type Composition, OWNER } from './composition.ts';
import { runInImage } from './container.ts';
import { type Built, buildHostImage, buildImage } from './image.ts';
import { exitWith } from './operator-error.ts';

const startedAt = performance.now();
const say = (text: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}`);

async function serveDemo(built: Built, composition: Composition): Promise<void> {
  const [api, worker] = await Promise.all([composition.start('api'), composition.start('worker')]);
  try {
    say('the API and a worker are healthy');
    const env = { DEMO_EMAIL: OWNER.email, DEMO_PASSWORD: OWNER.password };
    const printed = await runInImage(built, 'demo', env, 'demo', '--', '--url', composition.url);
    console.log(printed.replaceAll(/^/gm, '          '));
    say(`the API stopped in order after ${await api.stop()} ms, the worker after ${await worker.stop()} ms`);
  } finally {
    api.kill();
    worker.kill();
  }
}

/** Allocates browsers as far as this machine can: without Chromium there is nothing to allocate. */
async function allocateBrowsers(image: Built, composition: Composition): Promise<void> {
  if ((await findPrograms(image.env.CHROMIUM_PATH)) === null) {
    say('there is no Chromium here: the browser host is not started');
    return;
  }
  const host = await composition.startBrowserHost(image);
  try {
    say('a browser host allocates jailed ones, with a login that can run its statements alone');
    say(`it stopped in order after ${await host.stop()} ms`);
  } finally {
    host.kill();
  }
}

async function rehearse(place: string): Promise<void> {
  const built = await buildImage(place, say);
  const hostImage = await buildHostImage(built, place, say);
  // The demo receives webhooks and keeps its repository on this machine.
  const composition = await compose(built, place, { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true' });
  say('migrated as the owner of the schema, who is no superuser; made the first tenant');
  try {
    await serveDemo(built, composition);
    await allocateBrowsers(hostImage, composition);
  } finally {
    await composition.stop();
  }
}

const place = mkdtempSync(join(tmpdir(), 'quayside-image-'));
chmodSync(place, 0o755);
try {
  await rehearse(place).finally(() => {
    rmSync(place, { recursive: true, force: true });
  });
  say('done');
} catch (error) {
  exitWith(error);
}
