import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError, type ErrorCode } from '../../../domain/kernel/shared/errors.ts';

/** For the other side to take the socket. */
const ANSWER_MS = 5_000;
/** A socket on which nothing comes or goes is closed: hosts send pings every 20 s. */
const IDLE_MS = 60_000;
/** For what is on its way when the other side has closed. */
const LINGER_MS = 2_000;

/** The server to which a socket is passed, and the token by which it takes it. */
export interface PassedTo {
  /** `http://` */
  address: string;
  token: string;
}

/** What the other side said, as its caller is told. */
const CODE_OF: Record<number, ErrorCode> = {
  400: 'invalid_request',
  401: 'unauthenticated',
  404: 'not_found',
  429: 'rate_limited',
};
const DETAIL_OF: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'The request is not one for a WebSocket (RFC 6455)',
  unauthenticated: 'The token was used before, or has expired',
  not_found: 'The session does not run any more',
  rate_limited: 'The session has too many connections',
};

/**
 * Passes the connection of a request for a WebSocket on to another server of ours, which is asked in the same words, and
 * from then on every byte as it is: each side reads no faster than the other takes. Compression is not offered, and of
 * the request's headers only what the protocol needs goes on. Answers the connection once both sides have agreed; when
 * one closes, the other does. Rejects with `DomainError` while nothing was answered yet.
 */
export function passSocket(
  { headers }: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  { address, token }: PassedTo,
): Promise<Duplex> {
  // It tells of its close but once.
  if (connection.destroyed) return Promise.reject(gone());
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const asked = httpRequest(address, {
    agent: false,
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Key': headers['sec-websocket-key'] ?? '',
      'Sec-WebSocket-Version': headers['sec-websocket-version'] ?? '',
      Authorization: `Bearer ${token}`,
    },
  });
  const leave = () => asked.destroy();
  const late = setTimeout(
    () => asked.destroy(new DomainError('upstream_timeout', 'The host of the browser does not answer')),
    ANSWER_MS,
  );
  connection.once('close', leave);
  asked.once('upgrade', (answer, other: Duplex, otherHead: Buffer) => {
    clearTimeout(late);
    connection.removeListener('close', leave);
    if (connection.destroyed) {
      other.destroy();
      reject(gone());
      return;
    }
    connection.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer.headers['sec-websocket-accept']}\r\n\r\n`,
    );
    join(connection, other);
    if (otherHead.length > 0) connection.write(otherHead);
    if (head.length > 0) other.write(head);
    resolve(connection);
  });
  asked.once('response', (answer) => {
    clearTimeout(late);
    answer.resume();
    asked.destroy();
    const code = CODE_OF[answer.statusCode ?? 0] ?? 'upstream_error';
    reject(new DomainError(code, DETAIL_OF[code] ?? 'The host of the browser failed'));
  });
  asked.on('error', (error) => {
    clearTimeout(late);
    const isKnown = error instanceof DomainError;
    reject(isKnown ? error : new DomainError('upstream_error', 'The host of the browser cannot be reached'));
  });
  asked.end();
  return promise;
}

const gone = () => new DomainError('invalid_request', 'The sender has left');

function join(left: Duplex, right: Duplex): void {
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    one.pipe(other);
    one.on('error', () => one.destroy());
    one.on('close', () => {
      other.end();
      setTimeout(() => other.destroy(), LINGER_MS).unref();
    });
    (one as Duplex & { setTimeout?: (ms: number, then: () => void) => void }).setTimeout?.(IDLE_MS, () =>
      one.destroy(),
    );
  }
}
