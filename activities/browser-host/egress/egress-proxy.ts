import { once } from 'node:events';
import { chown } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as send, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import {
  type AddressPolicy,
  type OutboundAddresses,
  RefusedAddressError,
} from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { EgressTally } from './egress-counts.ts';
import type { UnixUser } from '../chromium/unprivileged-user.ts';
import { authorityOf, HostList, isBackgroundHost, normalHost } from './host-list.ts';

const CONNECTIONS_MAX = 200;
const HEAD_MAX_BYTES = 32 * 1024;
const HEAD_MAX_MS = 20_000;
const CONNECT_MAX_MS = 20_000;
/** Longer than an org's pages wait on an open connection for news. */
const IDLE_MAX_MS = 5 * 60_000;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
/** Headers that are not passed on, since they concern the connection or the proxy alone. */
const NOT_SENT = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|expect)$/i;

/** Where a browser's connections may go, and what opens them. */
export interface Outbound {
  addresses: OutboundAddresses;
  /** Opens connections to what the policy permits, each to an address that was resolved and checked once. */
  connectorFor: (policy: AddressPolicy) => buildConnector.connector;
}

export interface EgressLimits {
  maxBytes: number;
  /** Called once, when more went through. */
  onUsedUp: () => void;
}

/**
 * The one way out of a browser: an HTTP proxy for `CONNECT` and absolute addresses. It opens connections to the hosts of its
 * list, none at first, where the outbound policy permits the address: to ports 80 and 443, and to any port of an address
 * that the operator has listed. At most 200 at a time; one that is silent for 5 minutes is closed.
 */
export class EgressProxy {
  readonly tally: EgressTally;
  readonly hosts = new HostList();
  readonly #server: Server;
  readonly #toWeb: buildConnector.connector;
  readonly #toListed: buildConnector.connector;
  readonly #sockets = new Set<Duplex>();
  readonly #peers = new WeakMap<Duplex, Promise<boolean>>();
  readonly #isPeer: (socket: Socket) => Promise<boolean>;

  /** @param isPeer whether a connection is the browser's own; it is asked once for each. */
  constructor(
    { addresses, connectorFor }: Outbound,
    { maxBytes, onUsedUp }: EgressLimits,
    isPeer: (socket: Socket) => Promise<boolean> = () => Promise.resolve(true),
  ) {
    this.tally = new EgressTally(maxBytes, onUsedUp);
    this.#toWeb = connectorFor(addresses);
    this.#toListed = connectorFor(addresses.listedOnly);
    this.#isPeer = isPeer;
    this.#server = createServer({
      maxHeaderSize: HEAD_MAX_BYTES,
      headersTimeout: HEAD_MAX_MS,
      // An upload may take long; a connection without any bytes is closed anyway.
      requestTimeout: 0,
      connectionsCheckingInterval: HEAD_MAX_MS,
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('connection', (socket) => this.#admit(socket));
    this.#server.on('connect', (request, socket, head) => void this.#tunnel(request, socket as Socket, head));
    this.#server.on('request', (request, response) => void this.#forward(request, response));
  }

  /** @param path of a unix socket that is made. @param user who may connect to it; undefined: this process's own. */
  async listenAt(path: string, user: UnixUser | undefined): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, 'listening');
    if (user) await chown(path, user.uid, user.gid);
  }

  /** Answers the port of 127.0.0.1. */
  async listenOnLoopback(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Ends every connection. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }

  #admit(socket: Socket): void {
    this.#hold(socket);
    const isPeer = this.#isPeer(socket);
    this.#peers.set(socket, isPeer);
    void isPeer.then((is) => is || socket.destroy());
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setTimeout(IDLE_MAX_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket));
  }

  async #tunnel({ url = '' }: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const target = authorityOf(url);
    const upstream = target ? await this.#open(client, target) : 'malformed';
    if (typeof upstream === 'string') {
      client.write(`HTTP/1.1 ${STATUS_LINES[upstream]}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return client.destroySoon();
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) {
      this.tally.countBytes(head.length);
      upstream.write(head);
    }
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
    this.#count(client);
    this.#count(upstream);
    client.pipe(upstream);
    upstream.pipe(client);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = plainTarget(request.url ?? '');
    const upstream = target ? await this.#open(request.socket, target) : 'malformed';
    if (!target || typeof upstream === 'string') return answer(response, upstream as Refusal);
    this.#count(upstream);
    request.on('data', (chunk: Buffer) => this.tally.countBytes(chunk.length));
    response.on('close', () => upstream.destroy());
    const fail = () => (response.headersSent ? response.destroy() : answer(response, 'failed'));
    upstream.on('close', () => response.writableFinished || fail());
    const onward = send({
      createConnection: () => upstream,
      method: request.method ?? 'GET',
      path: target.path,
      headers: ['host', target.authority, ...passedOn(request.rawHeaders), 'connection', 'close'],
      setHost: false,
      maxHeaderSize: HEAD_MAX_BYTES,
    });
    onward.on('error', fail);
    onward.on('response', (reply) => {
      try {
        response.writeHead(reply.statusCode ?? 502, passedOn(reply.rawHeaders));
      } catch {
        // A status or header that no server may send.
        return fail();
      }
      reply.on('error', fail).pipe(response);
    });
    request.pipe(onward);
  }

  /** A connection to a host that may be reached, for one of the browser's own. */
  async #open(client: Duplex, { host, port }: { host: string; port: number }): Promise<Socket | Refusal> {
    if (!(await this.#peers.get(client))) return 'refused';
    if (this.tally.isUsedUp || !this.hosts.permits(host)) {
      // What the browser itself asks for is nobody's doing.
      if (!isBackgroundHost(host)) this.tally.countRefused(host);
      return 'refused';
    }
    const connected = connection(WEB_PORTS.has(port) ? this.#toWeb : this.#toListed, host, port);
    const upstream = await connected;
    if (upstream instanceof Error) {
      const isRefused = upstream instanceof RefusedAddressError;
      if (isRefused) this.tally.countRefused(host);
      return isRefused ? 'refused' : 'failed';
    }
    this.#hold(upstream);
    if (client.destroyed) upstream.destroy();
    this.tally.countAllowed(host);
    return upstream;
  }

  #count(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.tally.countBytes(chunk.length));
  }
}

/** Resolves with the error where there is no connection in time; one that comes later is closed. */
function connection(connect: buildConnector.connector, host: string, port: number): Promise<Socket | Error> {
  const { promise, resolve } = Promise.withResolvers<Socket | Error>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolve(new Error('no connection in time'));
  }, CONNECT_MAX_MS);
  connect({ hostname: host, host, port: String(port), protocol: 'http:' }, (error, socket) => {
    clearTimeout(timer);
    if (isLate) socket?.destroy();
    else resolve(error ?? socket ?? new Error('no connection'));
  });
  return promise;
}

/** What an absolute address of plain HTTP asks for; undefined: it is none. */
function plainTarget(address: string): { host: string; port: number; authority: string; path: string } | undefined {
  const url = URL.parse(address);
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '') return undefined;
  const host = normalHost(url.hostname);
  const port = url.port === '' ? 80 : Number(url.port);
  return host === undefined ? undefined : { host, port, authority: url.host, path: url.pathname + url.search };
}

type Refusal = 'malformed' | 'refused' | 'failed';
const STATUS_LINES: Record<Refusal, string> = {
  malformed: '400 Bad Request',
  refused: '403 Forbidden',
  failed: '502 Bad Gateway',
};
const SENTENCES: Record<Refusal, string> = {
  malformed: 'This address cannot be reached from a browser session.',
  refused: 'This host is not among those that the browser session may reach.',
  failed: 'The host could not be reached.',
};

function answer(response: ServerResponse, refusal: Refusal): void {
  response.writeHead(Number(STATUS_LINES[refusal].slice(0, 3)), { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${SENTENCES[refusal]}\n`);
}

/** Names and values in turn, without those of one connection. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!NOT_SENT.test(name)) passed.push(name, value);
  }
  return passed;
}
