import type { SessionBrowser, Tab } from '../chromium/browser.ts';
import type { SteerMessage } from './live-protocol.ts';

const BLANK = 'about:blank';

interface History {
  currentIndex: number;
  entries: { id: number }[];
}

/**
 * Does with tabs what the one who controls asks for. Answers why it was not done, for people; rejects with the failure of
 * the browser.
 */
export async function steer(
  { cdp, tabs }: SessionBrowser,
  front: Tab | undefined,
  message: SteerMessage,
): Promise<string | undefined> {
  switch (message.type) {
    case 'open':
      await tabs.open(message.url ?? BLANK);
      return undefined;
    case 'close': {
      const all = tabs.list();
      const tab = all.find(({ number }) => number === message.tab);
      if (!tab) return undefined;
      if (all.length === 1) return 'The last tab cannot be closed: Stop ends the session';
      await tabs.close(tab.id);
      return undefined;
    }
    case 'go': {
      if (!front) return undefined;
      const { errorText } = await cdp.send('Page.navigate', { url: message.url }, front.cdpSession);
      return typeof errorText === 'string' && errorText !== '' && errorText !== 'net::ERR_ABORTED'
        ? `The page did not load (${errorText.replace('net::', '')})`
        : undefined;
    }
    case 'history': {
      if (!front) return undefined;
      if (message.to === 'reload') {
        await cdp.send('Page.reload', {}, front.cdpSession);
        return undefined;
      }
      const answer = await cdp.send('Page.getNavigationHistory', {}, front.cdpSession);
      const { currentIndex, entries } = answer as unknown as History;
      const entry = entries[currentIndex + (message.to === 'back' ? -1 : 1)];
      if (!entry) return undefined;
      await cdp.send('Page.navigateToHistoryEntry', { entryId: entry.id }, front.cdpSession);
      return undefined;
    }
  }
}
