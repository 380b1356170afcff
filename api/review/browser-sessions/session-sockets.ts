import { mayStillConnect } from '../../../domain/review/browser-sessions/connections.queries.ts';
import { addressOfHost } from '../../../domain/review/browser-sessions/hosts/host-addresses.ts';
import { DomainError, notFound } from '../../../domain/kernel/shared/errors.ts';
import type { SocketInput, SocketRoute, SocketScope, SocketTo } from '../../http/sockets/socket-routes.ts';
import { admission, linksIn } from './live-admission.ts';

/** The socket of the page on which a session is watched, for people and for guests by a live link; `mode=control` asks for control. */
async function admitLive({ id, query }: SocketInput, scope: SocketScope): Promise<SocketTo> {
  const links = linksIn(scope.cookie('qs_live'));
  const actor = links.length === 0 ? await scope.caller() : await scope.visitor();
  const access = await scope.findLiveAccess(id, { actor, links });
  if (!access) throw notFound('The browser session');
  const callerNow = async () => ({ actor: await scope.callerNow(), links });
  return admission(access, query.get('mode') === 'control' ? 'control' : 'watch', { ...scope, callerNow });
}

/** Automation has a token for one connection, which its host spends. */
async function admitConnect({ id, query }: SocketInput, { hostTokens, reads, now }: SocketScope): Promise<SocketTo> {
  const token = query.get('token') ?? '';
  const grant = await hostTokens.open(token, now());
  if (grant?.asks !== 'connect') throw new DomainError('unauthenticated', 'The token is malformed or has expired');
  if (grant.sessionId !== id) throw notFound('The browser session');
  const isStillAdmitted = () => mayStillConnect(reads, grant);
  if (!(await isStillAdmitted())) throw new DomainError('forbidden', 'You may not connect to the session any more');
  const { tenantId } = grant.by;
  return { tenantId, address: await addressOfHost(reads.as(grant.by), grant.hostId), token, isStillAdmitted };
}

export const CONNECT_SOCKET_PATH = '/browser-sessions/{id}/connect/socket';

export const sessionSockets: readonly SocketRoute[] = [
  { path: '/browser-sessions/{id}/live/socket', admit: admitLive },
  { path: CONNECT_SOCKET_PATH, admit: admitConnect },
];
