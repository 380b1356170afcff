import { pino } from 'pino';
import { bridge } from '../../activities/browser-host/automation/cdp-bridge.ts';
import type { BrowserEnd, RunningBrowser, SessionBrowser } from '../../activities/browser-host/chromium/browser.ts';
import { startHostServer } from '../../activities/browser-host/host-server.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import type { SignedGrant } from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { openPage, startLocalBrowser } from './local-browsers.ts';

/** A real browser with one page at an address, behind the door of a browser host that lets everybody in. */
export async function playedBrowser(url: string) {
  const owner = { sessionId: newId(), tenantId: newId(), projectId: newId() };
  const running: RunningBrowser = await startLocalBrowser();
  const page = await openPage(running.cdp);
  await page.go(url);
  // A browser starts with a page of its own, which sessions take.
  const { targetInfos } = await running.cdp.send('Target.getTargets');
  for (const { targetId, type } of targetInfos as { targetId: string; type: string }[])
    if (type === 'page' && targetId !== page.targetId) await running.cdp.send('Target.closeTarget', { targetId });
  const allocated: SessionBrowser = {
    owner,
    viewport: { width: 1_280, height: 720 },
    isRecorded: false,
    expiresAt: () => new Date(Date.now() + 600_000),
    cdp: running.cdp,
    tabs: {
      list: () => [],
      attend: () => () => undefined,
      restoreViewport: () => undefined,
    } as unknown as SessionBrowser['tabs'],
    ending: new Promise<BrowserEnd>(() => undefined),
  };
  const grant = {
    hostId: newId(),
    sessionId: owner.sessionId,
    asks: 'connect',
    by: { tenantId: owner.tenantId, email: 'ada@acme.example' },
    until: new Date(Date.now() + 600_000),
  } as unknown as SignedGrant;
  const log = pino({ level: 'silent' });
  const host = await startHostServer({
    allocated: { find: () => allocated },
    admit: async (token) => (token === 'token' ? grant : undefined),
    listen: { host: '127.0.0.1', port: 0 },
    onLive: (socket) => socket.terminate(),
    onPictures: (response) => response.end(),
    onConnect: (socket, { browser }) => void bridge(socket, browser, log),
    log,
  });
  return {
    page,
    address: host.address,
    kill: () => running.kill({ reason: 'stopped', detail: null }),
    async close() {
      await host.close();
      running.kill({ reason: 'stopped', detail: null });
      await running.ended;
    },
  };
}
