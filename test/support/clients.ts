import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type * as QuaysideClient from '@quayside/client';
import { buildClients } from '../../tools/clients/build.ts';

let built: Promise<void> | undefined;

/** Builds the packages of `clients/` where they are not as their sources. */
export const builtClients = (): Promise<void> => (built ??= buildClients(() => undefined));

/** The client as others import it. */
export async function clientPackage(): Promise<typeof QuaysideClient> {
  await builtClients();
  return import('@quayside/client');
}

/** A request that a small server got. */
export interface Got {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface SmallServer {
  url: string;
  got: Got[];
  close: () => Promise<void>;
}

/** A server that answers as the test says, and keeps what it got. */
export async function smallServer(answer: (got: Got, response: ServerResponse) => void): Promise<SmallServer> {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: Buffer.concat(pieces).toString() };
    got.push(one);
    answer(one, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
