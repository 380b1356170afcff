import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

/** Where a machine has no browser, getting one takes this long at most. */
export const BROWSER_TIMEOUT_MS = 600_000;
/** Keeps a step in a page that hangs from hanging for ever. */
export const PAGE_TIMEOUT_MS = 120_000;

let found: Promise<string> | undefined;

/** The path of a Chromium. Fails with a sentence where there is none and none can be had. */
export const chromiumPath = (): Promise<string> => (found ??= findChromium());

async function findChromium(): Promise<string> {
  const { stdout } = await promisify(execFile)(join(import.meta.dirname, '../../.ci/browser'), {
    timeout: BROWSER_TIMEOUT_MS,
  });
  return stdout.trim();
}

/** A real browser without a window. Fails as `chromiumPath`. */
export const launchChromium = async (): Promise<Browser> => chromium.launch({ executablePath: await chromiumPath() });
