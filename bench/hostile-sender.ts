import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** One request, to be sent again and again on one connection. */
export interface HostileRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array;
  untilMs: number;
}

const { url, method, headers, body, untilMs } = workerData as HostileRequest;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const send = (): Promise<number> =>
  new Promise((resolve) => {
    const sent = request(url, { method, agent, headers: { ...headers, 'content-length': String(body.length) } });
    sent.on('response', (response) => {
      response.resume().on('close', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0));
    sent.end(body);
  });

const statuses: Record<string, number> = {};
while (Date.now() < untilMs) {
  const status = await send();
  statuses[status] = (statuses[status] ?? 0) + 1;
}
agent.destroy();
parentPort?.postMessage(statuses);
