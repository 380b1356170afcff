import { lookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import {
  type AddressPolicy,
  notPublic,
  RefusedAddressError,
} from '../../../domain/kernel/outbound/outbound-addresses.ts';

/** Finds all addresses of a host name. */
export type Resolver = (hostname: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

const systemResolver: Resolver = (hostname, done) => lookup(hostname, { all: true }, done);

/** Longer than any try may take, so that the try's own clock is the only one. */
const CONNECT_TIMEOUT_MS = 90_000;

/**
 * Opens connections to permitted addresses only. A name is looked up once per connection, and the connection goes to
 * the very addresses that were checked: there is no second look-up for a name server to answer differently. A
 * connection that is kept alive stays with its checked address.
 */
export function permittedConnector(
  addresses: AddressPolicy,
  resolve: Resolver = systemResolver,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    autoSelectFamily: true,
    lookup: checkedLookup(addresses, resolve),
  });
  return (options, callback) => {
    const refusal = addresses.refusedHost(options.hostname);
    if (refusal !== undefined) return callback(new RefusedAddressError(refusal), null);
    connect(options, (...made) => {
      const [, socket] = made;
      const ofPeer = socket && refusedPeer(addresses, socket);
      if (ofPeer === undefined || ofPeer === null) return callback(...made);
      socket?.destroy();
      callback(new RefusedAddressError(ofPeer), null);
    });
  };
}

const refusedPeer = ({ refusedPeer: refused }: AddressPolicy, { remoteAddress, remotePort }: Socket) =>
  remoteAddress === undefined || remotePort === undefined ? undefined : refused?.(remoteAddress, remotePort);

/** For `net.connect`, which asks it once and tries all addresses that it gets. */
function checkedLookup(addresses: AddressPolicy, resolve: Resolver): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, found) => {
      if (error) return callback(error, '', 0);
      if (!found.every(({ address }) => addresses.permitsIp(address))) {
        return callback(new RefusedAddressError(notPublic(hostname)), '', 0);
      }
      const [first] = found;
      if (!first) return callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), '', 0);
      if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
