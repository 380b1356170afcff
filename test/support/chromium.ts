import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

/** Where a machine has no browser, getting one takes this long at most. */
export const BROWSER_TIMEOUT_MS = 600_000;

/** A real browser without a window. Fails with a sentence where there is none and none can be had. */
export async function launchChromium(): Promise<Browser> {
  const { stdout } = await promisify(execFile)(join(import.meta.dirname, '../../.ci/browser'), {
    timeout: BROWSER_TIMEOUT_MS,
  });
  return chromium.launch({ executablePath: stdout.trim() });
}
