import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Servers on loopback that nothing in a browser may reach. They count connections and datagrams. */
export interface Victims {
  hits: () => number;
  /** Port of TCP, on 127.0.0.1 and on [::1]. */
  port: number;
  /** Port of UDP, on 127.0.0.1. */
  udpPort: number;
  close: () => Promise<void>;
}

export async function startVictims(): Promise<Victims> {
  let hits = 0;
  const count = () => void (hits += 1);
  const v4 = await serve('127.0.0.1', (_, response) =>
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('hit'),
  );
  v4.server.on('connection', count);
  const v6 = await serve('::1', (_, response) => response.end('hit'), v4.port);
  v6.server.on('connection', count);
  const udp = createSocket('udp4').on('message', count).bind(0, '127.0.0.1');
  await once(udp, 'listening');
  return {
    hits: () => hits,
    port: v4.port,
    udpPort: udp.address().port,
    async close() {
      udp.close();
      await Promise.all([v4.close(), v6.close()]);
    },
  };
}

/** A web server on an address of loopback. */
export async function serve(address: string, listener: RequestListener, port = 0) {
  const server = createServer(listener).listen(port, address);
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
