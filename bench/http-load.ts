import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export interface HttpLoad {
  url: string;
  token: string;
  /** Taken in turn. With headers of their own, they are sent without the token. */
  requests: { method: 'GET' | 'POST'; path: string; body?: unknown; headers?: Record<string, string> }[];
  connections: number;
  /** How many requests in all. */
  count: number;
  /** Requests a second, evenly spaced whatever the answers take; absent: as fast as the connections allow. */
  perSecond?: number;
}

export interface HttpLoadResult {
  latenciesMs: number[];
  /** Requests by status; 0: no answer. */
  statuses: Record<number, number>;
  seconds: number;
}

async function run({ url, token, requests, connections, count, perSecond }: HttpLoad): Promise<HttpLoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const latenciesMs: number[] = [];
  const statuses: Record<number, number> = {};
  const one = async (index: number) => {
    const { method, path, body, headers: own } = requests[index % requests.length] ?? { method: 'GET', path: '/' };
    const sentAt = performance.now();
    let status = 0;
    try {
      const response = await pool.request({
        method,
        path,
        headers: own ?? headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      await response.body.dump();
      status = response.statusCode;
    } catch {
      // Counted as status 0.
    }
    latenciesMs.push(performance.now() - sentAt);
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const startedAt = performance.now();
  if (perSecond === undefined) {
    let next = 0;
    const worker = async () => {
      while (next < count) await one(next++);
    };
    await Promise.all(Array.from({ length: connections }, worker));
  } else {
    const open: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      const wait = startedAt + (index * 1_000) / perSecond - performance.now();
      if (wait > 1) await sleep(wait);
      open.push(one(index));
    }
    await Promise.all(open);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await pool.close();
  return { latenciesMs, statuses, seconds };
}

process.on('message', (load: HttpLoad) => {
  void run(load).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
