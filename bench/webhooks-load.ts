import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { nowMs } from './webhooks-clock.ts';

/** A request that queues a payload: `event` for a trigger, absent for a delivery to the one webhook of the path. */
export interface Queuing {
  path: string;
  event?: string;
}

/** A number of requests, taken in turn, at a steady rate. */
export interface Load {
  apiUrl: string;
  token: string;
  requests: Queuing[];
  count: number;
  /** Absent: as fast as the connections allow. */
  perSecond?: number;
}

export interface LoadResult {
  /** Milliseconds from the request to its 202. */
  acceptMs: number[];
  accepted: number;
  refused: number;
  /** When the first request was sent. */
  firstAt: number;
}

const PADDING = 'x'.repeat(300);

const CONNECTIONS = 64;

/** Sends at the rate whatever the answers take. Runs as a process of its own. */
async function run({ apiUrl, token, requests, count, perSecond }: Load): Promise<LoadResult> {
  const pool = new Pool(apiUrl, { connections: CONNECTIONS });
  const result: LoadResult = { acceptMs: [], accepted: 0, refused: 0, firstAt: nowMs() };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (index: number) => {
    const { path, ...event } = requests[index % requests.length] ?? { path: '/' };
    const sentAt = nowMs();
    const body = JSON.stringify({ ...event, payload: { sentAt, padding: PADDING } });
    const response = await pool.request({ method: 'POST', path, headers, body });
    await response.body.dump();
    if (response.statusCode === 202) {
      result.accepted++;
      result.acceptMs.push(nowMs() - sentAt);
    } else result.refused++;
  };
  const sendOne = (index: number) =>
    send(index).catch(() => {
      result.refused++;
    });
  if (perSecond === undefined) {
    let next = 0;
    const sender = async () => {
      while (next < count) await sendOne(next++);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sender));
  } else {
    const open = new Set<Promise<void>>();
    const began = performance.now();
    for (let sent = 0; sent < count; ) {
      const due = Math.min(count, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1);
      for (; sent < due; sent++) {
        const request = sendOne(sent);
        open.add(request);
        void request.finally(() => open.delete(request));
      }
      await sleep(1);
    }
    await Promise.all(open);
  }
  await pool.close();
  return result;
}

process.on('message', (load: Load) => {
  void run(load).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
