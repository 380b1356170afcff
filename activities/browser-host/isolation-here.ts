import { ISOLATIONS, type Isolation } from '../../domain/browser-sessions/browser-provider.port.ts';
import { ChromiumStartError, startChromium, type ChromiumOrder } from './chromium.ts';

/**
 * The strongest isolation with which a browser starts on this machine, tried out. Rejects with `ChromiumStartError` when none
 * starts at all.
 */
export async function isolationHere(order: Pick<ChromiumOrder, 'programs' | 'outbound'>): Promise<Isolation> {
  let failure: unknown;
  for (const isolation of ISOLATIONS) {
    try {
      const browser = await startChromium({ ...order, isolation, viewport: { width: 800, height: 600 } });
      browser.kill({ reason: 'stopped', detail: null });
      await browser.ended;
      return isolation;
    } catch (error) {
      if (!(error instanceof ChromiumStartError)) throw error;
      failure = error;
    }
  }
  throw failure;
}
