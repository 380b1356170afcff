import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { DomainError } from '../../../kernel/shared/errors.ts';
import { hostById } from './browser-hosts.queries.ts';
import { isLive } from '../session-rules.ts';
import type { SessionRow } from '../sessions.queries.ts';

/** Where a live session runs: a browser host that takes connections. */
export interface HostAddress {
  hostId: string;
  /** `http://` */
  address: string;
}

/**
 * Where a session runs. Throws `invalid_request` for one that is not local, `invalid_transition` for one that is not live,
 * `unavailable` when its host sends no heartbeat or takes no connections.
 */
export async function hostOfSession(reads: Reads, session: SessionRow): Promise<HostAddress> {
  const { provider, status, hostId } = session;
  if (provider !== 'local')
    throw new DomainError(
      'invalid_request',
      `The session is run by ${provider}: only local ones are connected to here`,
    );
  if (!isLive(status) || hostId === null)
    throw new DomainError('invalid_transition', `The session is ${status}: only a live one is connected to`);
  return { hostId, address: await addressOfHost(reads, hostId) };
}

/** Throws `unavailable` when the host sends no heartbeat, or takes no connections. */
export async function addressOfHost(reads: Pick<Reads, 'db'>, hostId: string): Promise<string> {
  const host = await hostById(reads, hostId);
  if (host?.isAlive === true && host.address !== null) return host.address;
  throw new DomainError('unavailable', 'The host of the browser is not reached now; try again in a few seconds');
}
