import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { AdmitToken, HostAsk, SignedGrant } from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import type { SessionBrowser, SessionBrowsers } from './chromium/browser.ts';
import { ClientSlots } from './live/client-slots.ts';

/** Most bytes of one message of a client. */
const MESSAGE_MAX_BYTES = 1_048_576;
const PING_EVERY_MS = 20_000;

/** Why a socket is closed by the host, beside what its handler says. */
export const CLOSE_CODES = { ended: 1001, timeUp: 4408 } as const;

/** A connection that was let in. */
export interface HostClient {
  grant: SignedGrant;
  browser: SessionBrowser;
}

export interface HostServerParts {
  allocated: SessionBrowsers;
  admit: AdmitToken;
  /** Where it listens: port 0 is any free one. `url`: where the API reaches it, if that is another address. */
  listen: { host: string; port: number; url?: string | undefined };
  /** Takes over the open socket of somebody who watches or controls. */
  onLive: (socket: WebSocket, client: HostClient) => void;
  /** Answers a request without a socket: pictures for a page without script. */
  onPictures: (response: ServerResponse, client: HostClient) => void;
  /** Takes over the open socket of automation. */
  onConnect: (socket: WebSocket, client: HostClient) => void;
  log: Logger;
}

export interface HostServer {
  /** At which the API reaches it. */
  address: string;
  close(): Promise<void>;
}

/** A client that is not let in. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What of each client a token may ask for. */
const IS_LIVE: Record<HostAsk, boolean> = { watch: true, control: true, connect: false };

/**
 * The door of a browser host, which the API passes sockets to. Each request needs a token of its own
 * (`Authorization: Bearer`); what it asks for decides who serves it, its path does not. Sockets are pinged, and closed
 * when the session ends or the time of the grant is up.
 */
export async function startHostServer(parts: HostServerParts): Promise<HostServer> {
  const { listen, onLive, onPictures, onConnect, log } = parts;
  const slots = new ClientSlots();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX_BYTES, perMessageDeflate: false });

  const openAt = createSocketLists();

  const enter = (request: IncomingMessage) => countIn(request, parts, slots);
  const leave = ({ grant }: HostClient) => slots.leave(grant);

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const client = await enter(request);
    if (response.destroyed) {
      leave(client);
      return;
    }
    response.on('close', () => leave(client));
    const end = setTimeout(() => response.end(), msUntil(client.grant.until));
    response.on('close', () => clearTimeout(end));
    if (!IS_LIVE[client.grant.asks]) throw new Refused(426, 'The token is for a socket');
    onPictures(response, client);
  };
  const upgrade = async (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    const client = await enter(request);
    if (connection.destroyed) {
      leave(client);
      return;
    }
    connection.once('close', () => leave(client));
    sockets.handleUpgrade(request, connection, head, (socket) => {
      log.info({ sessionId: client.grant.sessionId, asks: client.grant.asks, by: client.grant.by.email }, 'connected');
      (IS_LIVE[client.grant.asks] ? onLive : onConnect)(socket, client);
      keepUntilItEnds(socket, client, openAt(client.browser));
    });
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => refuse(response, error, log));
  });
  server.on('upgrade', (request, connection: Duplex, head: Buffer) => {
    connection.on('error', () => connection.destroy());
    upgrade(request, connection, head).catch((error: unknown) => refuseSocket(connection, error, log));
  });
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: listen.url ?? `http://${listen.host.includes(':') ? `[${listen.host}]` : listen.host}:${port}`,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const msUntil = (time: Date): number => Math.max(0, time.getTime() - Date.now());

function refusalOf(error: unknown, log: Logger): { status: number; message: string } {
  if (error instanceof Refused) return error;
  log.error({ err: error }, 'a connection failed');
  return { status: 500, message: 'The connection failed' };
}

/** Closes a socket when its session ends, its time is up, or nobody answers its pings. */
function keepUntilItEnds(socket: WebSocket, { grant }: HostClient, untilEnd: Set<WebSocket>): void {
  let isAnswered = true;
  const ping = setInterval(() => {
    if (!isAnswered) {
      socket.terminate();
      return;
    }
    isAnswered = false;
    socket.ping();
  }, PING_EVERY_MS);
  const end = setTimeout(
    () => socket.close(CLOSE_CODES.timeUp, 'The time of this connection is up'),
    msUntil(grant.until),
  );
  socket.on('pong', () => (isAnswered = true));
  // A message that is too long or malformed is an error, after which the socket closes itself and says why.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(ping);
    clearTimeout(end);
    untilEnd.delete(socket);
  });
  untilEnd.add(socket);
}

/** The sockets that are closed when the browser ends: one wait for all of them. */
function createSocketLists() {
  const open = new WeakMap<SessionBrowser, Set<WebSocket>>();
  return (browser: SessionBrowser): Set<WebSocket> => {
    const known = open.get(browser);
    if (known) return known;
    const added = new Set<WebSocket>();
    open.set(browser, added);
    const close = () => {
      for (const socket of added) socket.close(CLOSE_CODES.ended, 'The session has ended');
    };
    // A turn later: viewers are told why it ends before.
    void browser.ending.then(() => setImmediate(close));
    return added;
  };
}

function refuse(response: ServerResponse, error: unknown, log: Logger): void {
  const { status, message } = refusalOf(error, log);
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(message);
}

function refuseSocket(connection: Duplex, error: unknown, log: Logger): void {
  const { status, message } = refusalOf(error, log);
  const lines = [`Content-Length: ${Buffer.byteLength(message)}`, 'Content-Type: text/plain', 'Connection: close'];
  connection.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${message}`);
}

/** Counts a client in. Throws `Refused`. */
async function countIn(
  { headers }: IncomingMessage,
  { admit, allocated }: HostServerParts,
  slots: ClientSlots,
): Promise<HostClient> {
  const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  const grant = token === undefined ? undefined : await admit(token, new Date());
  if (!grant) throw new Refused(401, 'The token is not for this host, was used before, or has expired');
  const browser = allocated.find(grant.sessionId);
  if (browser?.owner.tenantId !== grant.by.tenantId) throw new Refused(404, 'The session does not run here');
  const refused = slots.enter(grant);
  if (refused !== undefined) throw new Refused(429, refused);
  return { grant, browser };
}
