import type { Logger } from 'pino';
import type { MetricsStore } from '../../../domain/insight/metrics/metrics-store.port.ts';
import { sampleLines } from '../../../domain/insight/metrics/sample-line-rules.ts';
import type { createWindowStore, UnsentWindow } from '../../../domain/insight/metrics/window-store.queries.ts';

/** Windows that one round sends, of all tenants; one with many tags may take 7 kB. */
const ROUND_WINDOWS = 5_000;
const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** Tenants whose windows are written at the same time. */
const CONCURRENCY = 4;
/** When so many tenants failed and nothing was taken, the store is away, and the others are not tried. */
const FAILURES_MAX = 8;
/** For so long a tenant whose windows were refused is left out, as others go on. */
const ASIDE_MS = 30_000;
const START_CHECKED_EVERY_MS = 5_000;
/** The store may have lost what it took in the last seconds before it died: it saves every five, and what it saves takes a while. */
const UNSAVED_SECONDS = 15;

export interface SentRound {
  sent: number;
  /** Some tenant had more than was looked at. */
  isMoreDue: boolean;
}

export interface WindowSenderDeps {
  windows: ReturnType<typeof createWindowStore>;
  store: MetricsStore;
  log: Logger;
}

/** Sends changed windows to the store. Every tenant has an equal share of each round, and none is held up by another. */
export function createWindowSender({ windows, store, log }: WindowSenderDeps) {
  const asideUntil = new Map<string, number>();
  let start: { knownAs?: number | undefined; checkedAt: number } = { checkedAt: -Infinity };

  /** What a store that was started anew may have lost is sent again. Throws when it is away. */
  const checkStart = async () => {
    const startedAt = await store.startedAt();
    if (startedAt !== undefined && startedAt !== start.knownAs) {
      const again = await windows.unsendBefore(startedAt, UNSAVED_SECONDS);
      if (again > 0)
        log.info({ windows: again }, 'the metrics store was started anew: what it may have lost is sent again');
    }
    start = { knownAs: startedAt, checkedAt: performance.now() };
  };

  const writeTenant = async (tenantId: string, ofTenant: readonly UnsentWindow[], note: (sent: number) => void) => {
    for (const body of bodiesOf(ofTenant)) {
      await store.write(tenantId, body.lines);
      await windows.markSent(body.windows);
      note(body.windows.length);
    }
  };

  return {
    checkStart,

    /** One round. Throws when there was something to send and the store took nothing. */
    async send(): Promise<SentRound> {
      const now = performance.now();
      if (now > start.checkedAt + START_CHECKED_EVERY_MS) await checkStart();
      for (const [tenantId, until] of asideUntil) if (until < now) asideUntil.delete(tenantId);
      const tenants = (await windows.waitingTenants()).filter((tenantId) => !asideUntil.has(tenantId));
      if (tenants.length === 0) return { sent: 0, isMoreDue: false };
      // A power of two, as each share is a statement of its own.
      const share = 2 ** Math.floor(Math.log2(Math.max(1, ROUND_WINDOWS / tenants.length)));
      const byTenant = Map.groupBy(await windows.unsent(tenants, share), ({ tenantId }) => tenantId);
      const failures: unknown[] = [];
      let sent = 0;
      const left = byTenant.entries();
      const writeSome = async () => {
        for (const [tenantId, ofTenant] of left) {
          if (sent === 0 && failures.length >= FAILURES_MAX) return;
          try {
            await writeTenant(tenantId, ofTenant, (count) => (sent += count));
          } catch (error) {
            failures.push(error);
            asideUntil.set(tenantId, now + ASIDE_MS);
          }
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, writeSome));
      if (failures.length > 0 && sent === 0) {
        // All were tried: the store is away, which is the fault of none.
        if (failures.length === byTenant.size) asideUntil.clear();
        throw failures[0];
      }
      if (failures.length > 0)
        log.warn(
          { err: failures[0], tenants: failures.length },
          'the metrics store did not take metrics of some tenants',
        );
      return { sent, isMoreDue: [...byTenant.values()].some(({ length }) => length >= share) };
    },
  };
}

/** Windows of a tenant with their lines, in bodies that the store takes quickly. */
function* bodiesOf(windows: readonly UnsentWindow[]): Generator<{ lines: string; windows: UnsentWindow[] }> {
  let body: UnsentWindow[] = [];
  let [lines, size] = ['', 0];
  for (const window of windows) {
    const more = sampleLines(window);
    const bytes = Buffer.byteLength(more);
    if (body.length > 0 && size + bytes > BODY_MAX_BYTES) {
      yield { lines, windows: body };
      [body, lines, size] = [[], '', 0];
    }
    body.push(window);
    lines += more;
    size += bytes;
  }
  if (body.length > 0) yield { lines, windows: body };
}
