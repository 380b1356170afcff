import { chromium } from 'playwright-core';
import { findPrograms } from '../../activities/browser-host/chromium/programs.ts';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';

const SIZE = { width: 1_280, height: 760 };

/** Takes a picture of a page of the console as the demo's owner sees it, and writes it as PNG. */
export async function takePicture(
  api: Pick<DemoClient, 'authorization'>,
  { address, file }: { address: string; file: string },
): Promise<void> {
  const programs = await findPrograms(process.env.CHROMIUM_PATH);
  if (programs === null) throw new OperatorError('A picture needs Chromium (CHROMIUM_PATH).');
  const browser = await chromium.launch({ executablePath: programs.chromium });
  try {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: 'light', reducedMotion: 'reduce' });
    const access_token = api.authorization.replace(/^Bearer /, '');
    await context.request.post(new URL('/api/auth/callback', address).href, { data: { access_token } });
    const page = await context.newPage();
    await page.goto(address);
    await page.getByRole('gridcell').first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.screenshot({ path: file });
  } finally {
    await browser.close();
  }
}
