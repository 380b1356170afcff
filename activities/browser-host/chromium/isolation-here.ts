import { ISOLATIONS, type Isolation } from '../../../domain/kernel/settings/isolation-rules.ts';
import { ChromiumStartError, startChromium, type ChromiumOrder } from './chromium.ts';

/** How browsers are to be started here, and what keeps them in then. */
export interface IsolationHere {
  startsAs: Isolation;
  isolation: Isolation;
}

/**
 * The strongest isolation with which a browser starts on this machine, tried out. Rejects with `ChromiumStartError` when none
 * starts at all.
 */
export async function isolationHere(order: Pick<ChromiumOrder, 'programs' | 'outbound'>): Promise<IsolationHere> {
  let failure: unknown;
  for (const startsAs of ISOLATIONS) {
    try {
      const browser = await startChromium({ ...order, isolation: startsAs, viewport: { width: 800, height: 600 } });
      browser.kill({ reason: 'stopped', detail: null });
      await browser.ended;
      return { startsAs, isolation: browser.isolation };
    } catch (error) {
      if (!(error instanceof ChromiumStartError)) throw error;
      failure = error;
    }
  }
  throw failure;
}
