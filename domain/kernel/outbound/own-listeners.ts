import type { Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalIp, isThisMachine } from './outbound-addresses.ts';

/** Where the processes of the service on this machine listen. */
export interface OwnListeners {
  /** From now on, wherever the server listens. */
  add: (server: Server) => void;
  /** Whether a connection to an address, in any notation, would reach one of them. */
  has: (ip: string, port: number) => boolean;
}

/** @param ports of the configuration; 0: none. @param localAddresses of the interfaces, beside those of the loopback. */
export function createOwnListeners(ports: readonly number[], localAddresses = addressesOfInterfaces): OwnListeners {
  const servers: Server[] = [];
  const isTaken = (port: number) =>
    (port !== 0 && ports.includes(port)) ||
    servers.some((server) => {
      const address = server.address();
      return typeof address === 'object' && address?.port === port;
    });
  return {
    add: (server) => void servers.push(server),
    has: (ip, port) =>
      isTaken(port) && (isThisMachine(ip) || localAddresses().map(canonicalIp).includes(canonicalIp(ip))),
  };
}

const addressesOfInterfaces = (): string[] =>
  Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
