import { addressOfHost, placeOfSession } from '../../domain/browser-sessions/host-places.ts';
import { capOf, mayChange } from '../../domain/browser-sessions/session-rules.ts';
import { sessionById } from '../../domain/browser-sessions/sessions.queries.ts';
import { DomainError, notFound } from '../../domain/shared/errors.ts';
import type { PassedTo } from '../http/pass-socket.ts';
import type { SocketInput, SocketRoute, SocketScope } from '../http/socket-routes.ts';

/** The socket of the page on which a session is watched; `mode=control`: who may change the session asks for it. */
async function admitLive({ id, query }: SocketInput, scope: SocketScope): Promise<PassedTo> {
  const actor = await scope.caller();
  const reads = scope.reads.as(actor);
  const session = await sessionById(reads, id);
  const { hostId, address } = await placeOfSession(reads, session);
  const asks = query.get('mode') === 'control' && mayChange(actor, session) ? 'control' : 'watch';
  const until = capOf(new Date(session.createdAt));
  const grant = { hostId, sessionId: id, asks, by: actor, linkId: null, until } as const;
  return { address, token: await scope.hostTokens.sign(grant, scope.now()) };
}

/** Automation has a token for one connection, which its host spends. */
async function admitConnect({ id, query }: SocketInput, { hostTokens, reads, now }: SocketScope): Promise<PassedTo> {
  const token = query.get('token') ?? '';
  const grant = await hostTokens.open(token, now());
  if (grant?.asks !== 'connect') throw new DomainError('unauthenticated', 'The token is malformed or has expired');
  if (grant.sessionId !== id) throw notFound('The browser session');
  return { address: await addressOfHost(reads.as(grant.by), grant.hostId), token };
}

export const CONNECT_SOCKET_PATH = '/browser-sessions/{id}/connect/socket';

export const sessionSockets: readonly SocketRoute[] = [
  { path: '/browser-sessions/{id}/live/socket', admit: admitLive },
  { path: CONNECT_SOCKET_PATH, admit: admitConnect },
];
