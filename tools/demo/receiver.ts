import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  /** From the event's own time to its arrival. */
  delayMs: number;
  data: Record<string, unknown>;
}

interface Event {
  id: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export interface DemoReceiver {
  url: string;
  /** The secret by which deliveries to `/{event}` must be signed. */
  trust: (event: string, secret: string) => void;
  /** Deliveries that came with a good signature; repeats of one count once. */
  received: (event: string) => readonly Received[];
  readonly refused: number;
  close: () => Promise<void>;
}

/** A receiver on a free port of loopback that checks signatures as receivers should: by a library of Standard Webhooks. */
export async function startReceiver(): Promise<DemoReceiver> {
  const verifiers = new Map<string, Webhook>();
  const received = new Map<string, Map<string, Received>>();
  let refused = 0;
  const take = async (request: IncomingMessage): Promise<number> => {
    const arrivedAt = Date.now();
    const event = (request.url ?? '').slice(1);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      const headers = request.headers as Record<string, string>;
      const body = verifiers.get(event)?.verify(Buffer.concat(chunks), headers) as Event;
      const seen = received.get(event) ?? new Map<string, Received>();
      received.set(event, seen);
      if (!seen.has(body.id)) seen.set(body.id, { delayMs: arrivedAt - Date.parse(body.timestamp), data: body.data });
      return 204;
    } catch {
      refused++;
      return 401;
    }
  };
  const server = createServer((request, response) => {
    void take(request).then((status) => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    trust: (event, secret) => verifiers.set(event, new Webhook(secret)),
    received: (event) => [...(received.get(event)?.values() ?? [])],
    get refused() {
      return refused;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
