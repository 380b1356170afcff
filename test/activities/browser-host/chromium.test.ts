import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CdpError } from '../../../activities/browser-host/browser.ts';
import { startChromium } from '../../../activities/browser-host/chromium.ts';
import { findPrograms } from '../../../activities/browser-host/programs.ts';

test('a browser answers over its pipe, and leaves nothing behind when it is killed', async () => {
  const programs = await findPrograms(undefined);
  if (programs === null) throw new Error('.ci/browser has not brought a Chromium');
  const folder = join(tmpdir(), `browser-test-${process.pid}`);
  const browser = await startChromium({
    programs,
    isolation: 'sandboxed',
    folder,
    viewport: { width: 1_280, height: 720 },
  });
  const { product } = await browser.cdp.send('Browser.getVersion');
  expect(product).toMatch(/Chrom/);
  await expect(browser.cdp.send('No.such')).rejects.toThrow(CdpError);
  expect(await browser.cdp.pass({ id: 7, method: 'No.such' })).toMatchObject({ id: 7, error: { code: -32_601 } });
  browser.kill({ reason: 'stopped', detail: null });
  expect(await browser.ended).toEqual({ reason: 'stopped', detail: null });
  await expect(browser.cdp.send('Browser.getVersion')).rejects.toThrow('The browser is gone');
  await expect(mkdtemp(join(folder, 'x-'))).rejects.toThrow('ENOENT');
  await rm(folder, { recursive: true, force: true });
});
