import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Viewport } from '../../../domain/review/browser-sessions/browser-provider.port.ts';
import type { Isolation } from '../../../domain/kernel/settings/isolation-rules.ts';
import { claimedIsolation } from '../../../domain/review/browser-sessions/hosts/isolation-rules.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import type { RunningBrowser } from './browser.ts';
import { furnish, newHostFolder } from './browser-folder.ts';
import { BrowserLife } from './browser-life.ts';
import { type BrowserLimits, LIMITS, trafficUsedUp, watchLimits } from './browser-limits.ts';
import { CdpPipe } from '../automation/cdp-pipe.ts';
import { chromiumSwitches } from './chromium-switches.ts';
import { EgressProxy, type Outbound } from '../egress/egress-proxy.ts';
import { JAILED_PROFILE, jailed, RELAY_PORT, withOwnPolicies } from './jail.ts';
import { isPeerOf } from '../egress/loopback-peers.ts';
import type { BrowserPrograms } from './programs.ts';
import { giveBackUser, takeUser, type UnixUser } from './unprivileged-user.ts';
import { withoutOwnProxies } from './without-own-proxies.ts';

const START_MAX_MS = 30_000;

export interface ChromiumOrder {
  programs: BrowserPrograms;
  isolation: Isolation;
  viewport: Viewport;
  outbound: Outbound;
  limits?: Partial<BrowserLimits>;
}

/** Chromium did not start. The message is for operators. */
export class ChromiumStartError extends Error {}

/**
 * Starts a Chromium with one empty tab, which reaches no host until it is allowed; resolves when it answers. Rejects with
 * `ChromiumStartError`, and leaves nothing behind then.
 *
 * - `jailed`: bubblewrap keeps it in namespaces of its own. Its network is a loopback with nothing but a relay to the unix socket
 *   of its egress proxy, so that no switch, and no bug of Chromium's, leads past that.
 * - `sandboxed`: a user of its own and Chromium's own sandbox. It is on this machine's network, and kept from it by switches and
 *   policies; by switches alone where bubblewrap cannot make it a folder of policies (`file:` pages open by the protocol then).
 * - `none`: not even Chromium's sandbox.
 *
 * Without root there is no other user: what was started as `sandboxed` says `none` of itself then.
 */
export async function startChromium(order: ChromiumOrder): Promise<RunningBrowser> {
  const { isolation, outbound } = order;
  const limits = { ...LIMITS, ...order.limits };
  const folder = await newHostFolder('browser');
  const user = isolation === 'none' ? undefined : takeUser();
  const egress = new EgressProxy(
    outbound,
    { maxBytes: limits.trafficBytes, onUsedUp: () => life.kill(trafficUsedUp(limits)) },
    isolation === 'jailed' || !user ? undefined : (socket) => isPeerOf(user.uid, socket),
  );
  const life = new BrowserLife(folder, () => egress.close());
  // Before that, processes of theirs are left: nobody else gets them.
  void life.ended.then(() => giveBackUser(user));
  try {
    const proxy = isolation === 'jailed' ? RELAY_PORT : await egress.listenOnLoopback();
    const command = await commandOf(order, { folder, proxy: `127.0.0.1:${proxy}`, user, egress });
    const { stdio, pid } = life.start(command, user);
    const [orders, replies, said] = stdio.slice(3) as unknown as [Writable, Readable, Readable];
    const pipe = new CdpPipe(orders, replies);
    void pipe.closed.then(() => life.expectExit());
    const cdp = isolation === 'jailed' ? pipe : withoutOwnProxies(pipe);
    const answers = cdp.send('Browser.setDownloadBehavior', { behavior: 'deny' });
    // On a busy machine its way out may come later than it does: the first page would not load.
    const hasWayOut = isolation === 'jailed' ? relayListens(said) : undefined;
    await within(START_MAX_MS, Promise.all([answers, hasWayOut]), () => {
      throw new Error('it did not answer in time');
    });
    const stopWatching = watchLimits(limits, { session: pid, profile: `${folder}/profile` }, (end) => life.kill(end));
    void life.ended.then(stopWatching);
    return {
      cdp,
      isolation: claimedIsolation(isolation, { hasOwnUser: user !== undefined }),
      pid,
      egress: egress.tally,
      allow: (hosts) => egress.hosts.add(hosts),
      ended: life.ended,
      kill: (end) => life.kill(end),
    };
  } catch (error) {
    life.kill({ reason: 'provider_error', detail: null });
    await life.ended;
    throw new ChromiumStartError(`Chromium did not start: ${(error as Error).message} ${life.said}`.trim());
  }
}

/** Waits for the relay of a jail. One that ends before says nothing: the browser ends, too, or is given up. */
const relayListens = (said: Readable): Promise<unknown> => once(said, 'data');

/** What is run, and everything that it needs on disk. */
async function commandOf(
  { programs: { chromium, bubblewrap, socat }, isolation, viewport }: ChromiumOrder,
  { folder, proxy, user, egress }: { folder: string; proxy: string; user: UnixUser | undefined; egress: EgressProxy },
): Promise<readonly string[]> {
  const folders = await furnish(folder, proxy, user);
  if (isolation !== 'jailed') {
    const switches = chromiumSwitches({ viewport, isolation, proxy, profile: folders.profile });
    if (isolation === 'none' || bubblewrap === null) return [chromium, ...switches];
    return [bubblewrap, ...withOwnPolicies(chromium, folders.policies), ...switches];
  }
  if (bubblewrap === null || socat === null) throw new Error('a jail needs bubblewrap and socat');
  await egress.listenAt(folders.egress, user);
  const switches = chromiumSwitches({ viewport, isolation, proxy, profile: JAILED_PROFILE });
  return [bubblewrap, ...jailed(chromium, socat, folders), ...switches];
}
