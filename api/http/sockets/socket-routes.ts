import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { hashSecret } from '../../../domain/kernel/encryption/secrets.ts';
import type { FindLiveAccess } from '../../../domain/review/browser-sessions/live/live-access.ts';
import type { HostTokens } from '../../../domain/review/browser-sessions/hosts/host-tokens.ts';
import type { FencedReads } from '../../../domain/kernel/data/fenced-reads.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError, notFound } from '../../../domain/kernel/shared/errors.ts';
import type { Slots } from '../../../domain/kernel/queues/slots.ts';
import { addressKey, clientAddress, type TrustedProxies } from '../../../domain/kernel/outbound/client-address.ts';
import { isId, newId } from '../../../domain/kernel/shared/ids.ts';
import { type Asked, type CredentialDeps, identify } from '../credentials.ts';
import type { CookieName } from '../cookies.ts';
import { answerErrorOn, type Sockets } from '../server/http-server.ts';
import type { HttpMetrics } from '../server/metrics.ts';
import { type PassedTo, passSocket } from './pass-socket.ts';
import { isUnexpected } from '../problems.ts';
import type { RateLimit } from '../rate-limit.ts';
import { takeSocket } from './socket-slots.ts';

/** Sockets of one process that are neither admitted nor refused yet. */
const OPENING_MAX = 50;
/** How soon a socket ends whose opener may have it no more. */
const RECHECK_MS = 2_000;

/** A request for a WebSocket, of a page of this service or of a client that is no browser. */
export interface SocketInput {
  /** The parameter `id` of the path. */
  id: string;
  query: URLSearchParams;
}

export interface SocketScope {
  /**
   * The sender, by header, or by the cookie of a page of this service. Throws `unauthenticated`, `forbidden` and
   * `rate_limited`.
   */
  caller(): Promise<Actor>;
  /** Who asks, where signing in is optional; undefined: nobody, which is no reason to refuse. */
  visitor(): Promise<Actor | undefined>;
  reads: FencedReads;
  hostTokens: HostTokens;
  findLiveAccess: FindLiveAccess;
  /** Who sends it by now, without counting it as a request; undefined: nobody, or no longer. */
  callerNow(): Promise<Actor | undefined>;
  /** A cookie that came from a page of this service. */
  cookie(name: CookieName): string | undefined;
  now: () => Date;
  log: Logger;
}

/** A socket that is passed on, as long as its opener may have it. */
export interface SocketTo extends PassedTo {
  /** Tenant whose slot it takes. */
  tenantId: string;
  /** False: it is closed. Rejects when that cannot be told now. Absent: nobody withdraws it. */
  isStillAdmitted?: () => Promise<boolean>;
}

/** A WebSocket that another server of ours serves: who may have it, and where it is passed to. */
export interface SocketRoute {
  /** With `{id}` for a UUID. What stands in its query is in no log. */
  path: `/${string}`;
  /** Throws `DomainError`. */
  admit(input: SocketInput, scope: SocketScope): Promise<SocketTo>;
}

export interface SocketDeps extends CredentialDeps {
  reads: FencedReads;
  hostTokens: HostTokens;
  findLiveAccess: FindLiveAccess;
  tokenLimit: RateLimit;
  /** Counts each by its address, before anything is asked of it. */
  addressLimit: RateLimit;
  trustedProxies: TrustedProxies;
  slots: Slots;
  basePath: string;
  now: () => Date;
  log: Logger;
  metrics: HttpMetrics;
}

export interface SocketServer extends Sockets {
  /** Closes all, and opens none any more. */
  close(): void;
}

/** Serves requests for WebSockets by a list of routes. */
export function createSocketServer(routes: readonly SocketRoute[], deps: SocketDeps): SocketServer {
  const open = new Set<Duplex>();
  let opening = 0;
  let isClosing = false;

  const find = (request: IncomingMessage) => routeOf(request, routes, deps.basePath);
  const pass = async (request: IncomingMessage, connection: Duplex, head: Buffer, requestId: string) => {
    const found = find(request);
    if (!found) throw notFound('The socket');
    const { route, input } = found;
    const peer = request.socket.remoteAddress ?? '';
    await deps.addressLimit(addressKey(clientAddress(peer, headerOf(request, 'x-forwarded-for'), deps.trustedProxies)));
    if (isClosing || opening >= OPENING_MAX)
      throw new DomainError('unavailable', 'This process takes no more sockets now; try again later');
    if (!isId(input.id)) throw notFound('The browser session');
    assertOwnOrigin(request, deps.publicUrl);
    opening++;
    try {
      const to = await route.admit(input, scopeOf(deps, request, requestId));
      await passOn(request, connection, head, to, deps.slots);
    } finally {
      opening--;
    }
  };

  return {
    takes: (request) =>
      request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && find(request) !== undefined,

    serve(request, connection, head) {
      const startedAt = performance.now();
      const requestId = newId();
      const { route, path } = find(request) ?? { path: '/' };
      const note = (status: number) => {
        const durationMs = performance.now() - startedAt;
        const named = { method: 'GET', route: route?.path ?? 'unmatched' };
        deps.metrics.duration.observe({ ...named, status: String(status) }, durationMs / 1_000);
        deps.log.info({ requestId, ...named, status, durationMs: Math.round(durationMs * 10) / 10 }, 'request');
      };
      open.add(connection);
      connection.on('error', () => connection.destroy());
      connection.once('close', () => open.delete(connection));
      pass(request, connection, head, requestId).then(
        () => note(101),
        (error: unknown) => {
          if (isUnexpected(error)) deps.log.error({ err: error, requestId }, 'request failed');
          note(answerErrorOn(connection, error, path, requestId));
        },
      );
    },

    close() {
      isClosing = true;
      for (const connection of open) connection.destroy();
    },
  };
}

function closeWhenWithdrawn(connection: Duplex, isStillAdmitted: () => Promise<boolean>): void {
  // Its close was told already, and would not end the timer.
  if (connection.destroyed) return;
  const timer = setInterval(() => {
    isStillAdmitted().then(
      (is) => is || connection.destroy(),
      // What cannot be told now is asked again.
      () => undefined,
    );
  }, RECHECK_MS);
  timer.unref();
  connection.once('close', () => clearInterval(timer));
}

/** The value of `{id}` in a path; undefined for a path that is not of this form. */
function idIn(path: string, form: string): string | undefined {
  const [before = '', behind = ''] = form.split('{id}');
  const id = path.slice(before.length, path.length - behind.length);
  return path === before + id + behind && id !== '' && !id.includes('/') ? id : undefined;
}

const headerOf = ({ headers }: IncomingMessage, name: string): string => String(headers[name] ?? '');

/** Browsers name the page that asks, and attach the cookie whatever page it is. Throws `forbidden`. */
function assertOwnOrigin(request: IncomingMessage, publicUrl: string): void {
  const origin = headerOf(request, 'origin');
  if (origin !== '' && origin !== new URL(publicUrl).origin)
    throw new DomainError('forbidden', 'A socket is opened by a page of this service, or without a page');
}

async function orNobody<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}

function scopeOf(deps: SocketDeps, request: IncomingMessage, requestId: string): SocketScope {
  const { reads, hostTokens, findLiveAccess, now, tokenLimit } = deps;
  const isOfPage = headerOf(request, 'origin') !== '';
  const asked: Asked = {
    method: 'GET',
    get: (name) => (name === 'cookie' && !isOfPage ? '' : headerOf(request, name.toLowerCase())),
  };
  const caller = async (): Promise<Actor> => {
    const { actor, secret } = await identify(deps, asked);
    await tokenLimit(hashSecret(secret));
    if (actor.run) throw new DomainError('forbidden', 'Forbidden - The token of a run opens no socket');
    return actor;
  };
  return {
    caller,
    visitor: () => orNobody(caller),
    async callerNow() {
      const found = await orNobody(() => identify(deps, asked));
      return found?.actor.run ? undefined : found?.actor;
    },
    cookie: (name) => deps.cookies.read(asked.get('cookie'), name),
    reads,
    hostTokens,
    findLiveAccess,
    now,
    log: deps.log.child({ requestId }),
  };
}

function routeOf({ url = '' }: IncomingMessage, routes: readonly SocketRoute[], basePath: string) {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  for (const route of routes) {
    const id = idIn(path, basePath + route.path);
    if (id !== undefined) return { route, path, input: { id, query: new URLSearchParams(query) } };
  }
  return undefined;
}

async function passOn(
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  to: SocketTo,
  slots: Slots,
): Promise<void> {
  const leave = takeSocket(slots, to.tenantId);
  connection.once('close', leave);
  try {
    await passSocket(request, connection, head, to);
  } catch (error) {
    leave();
    throw error;
  }
  if (to.isStillAdmitted) closeWhenWithdrawn(connection, to.isStillAdmitted);
}
