import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ControlRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The members of a JSON body. */
  fields: () => Record<string, unknown>;
}

export interface ControlServer {
  url: string;
  close: () => void;
}

/** An address that changes simulators from outside. @param act answers a request; what it throws is the refusal. */
export async function controlServer(act: (request: ControlRequest) => unknown, port = 0): Promise<ControlServer> {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const fields = () => JSON.parse(body.toString('utf8') || '{}') as Record<string, unknown>;
      const { method = 'GET', url = '/', headers } = incoming;
      try {
        const value = act({ method, url, headers, body, fields });
        response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(value, null, 2)}\n`);
      } catch (error) {
        response.writeHead(400, { 'content-type': 'text/plain' }).end(`${(error as Error).message}\n`);
      }
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Runs a program of simulators until it is asked to stop, or until whoever forked it is gone. */
export function untilStopped(stop: () => void): void {
  const end = () => {
    stop();
    // Its channel to whoever forked it would keep it alive.
    if (process.connected) process.disconnect();
  };
  for (const event of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(event, end);
}
