import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Number of the connection, from 1 on. */
  connection: number;
}

/** Answers a request: a status, or anything that can be done with the response. */
export type Answer = number | ((response: ServerResponse, request: ReceivedRequest) => void);

export interface WebhookReceiver {
  url: string;
  port: number;
  requests: ReceivedRequest[];
  /** What is answered from now on; 200 at first. */
  answer: (answer: Answer) => void;
  /** Waits until so many requests have come. */
  received: (count: number, withinMs?: number) => Promise<ReceivedRequest[]>;
  close: () => Promise<void>;
}

/** A receiver of webhooks on loopback that keeps what it gets and answers as it is told. */
export async function webhookReceiver(): Promise<WebhookReceiver> {
  const requests: ReceivedRequest[] = [];
  const connections = new WeakMap<object, number>();
  let opened = 0;
  let current: Answer = 200;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        connection: connections.get(incoming.socket) ?? 0,
      };
      requests.push(request);
      if (typeof current === 'number') response.writeHead(current).end();
      else current(response, request);
    });
  });
  server.on('connection', (socket) => connections.set(socket, ++opened));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answer(answer) {
      current = answer;
    },
    async received(count, withinMs = 120_000) {
      for (const giveUpAt = Date.now() + withinMs; requests.length < count; ) {
        if (Date.now() > giveUpAt)
          throw new Error(`${requests.length} of ${count} requests came within ${withinMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return requests;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
