import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/**
 * Whether the other end of a connection over 127.0.0.1 belongs to a user, by the kernel's table of connections. False where
 * that cannot be told.
 */
export async function isPeerOf(uid: number, { remotePort, localPort }: Socket): Promise<boolean> {
  if (remotePort === undefined || localPort === undefined) return false;
  const wanted = [endpoint(remotePort), endpoint(localPort)];
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '');
  for (const line of table.split('\n')) {
    // number: local remote state queues timer retransmits uid …
    const [, local, remote, , , , , owner] = line.trim().split(/\s+/, 8);
    if (local === wanted[0] && remote === wanted[1]) return Number(owner) === uid;
  }
  return false;
}

/** As the table spells it: the address in the order of a little-endian machine. */
const endpoint = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
