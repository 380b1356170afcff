import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { nowMs } from './webhooks-clock.ts';

/** A stretch of load: triggers at a steady rate, the events taken in turn. */
export interface Load {
  apiUrl: string;
  token: string;
  events: string[];
  perSecond: number;
  seconds: number;
}

export interface LoadResult {
  /** Milliseconds from the request to its 202. */
  acceptMs: number[];
  accepted: number;
  refused: number;
}

const PADDING = 'x'.repeat(300);

/** Sends at the rate whatever the answers take. Runs as a process of its own. */
async function run({ apiUrl, token, events, perSecond, seconds }: Load): Promise<LoadResult> {
  const pool = new Pool(apiUrl, { connections: 64 });
  const result: LoadResult = { acceptMs: [], accepted: 0, refused: 0 };
  const open = new Set<Promise<void>>();
  const trigger = async (event: string) => {
    const sentAt = nowMs();
    const body = JSON.stringify({ event, payload: { sentAt, padding: PADDING } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await pool.request({ method: 'POST', path: '/api/webhooks/trigger', headers, body });
    await response.body.dump();
    if (response.statusCode === 202) {
      result.accepted++;
      result.acceptMs.push(nowMs() - sentAt);
    } else result.refused++;
  };
  const began = performance.now();
  const total = perSecond * seconds;
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1);
    for (; sent < due; sent++) {
      const request = trigger(events[sent % events.length] ?? '').catch(() => {
        result.refused++;
      });
      open.add(request);
      void request.finally(() => open.delete(request));
    }
    await sleep(1);
  }
  await Promise.all(open);
  await pool.close();
  return result;
}

process.on('message', (load: Load) => {
  void run(load).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
