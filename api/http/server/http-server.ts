import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { DomainError, type ErrorCode } from '../../../domain/kernel/shared/errors.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import { problemOf } from '../problems.ts';
import { headProblem } from '../well-formed-rules.ts';

export interface ServerTimeouts {
  /** From the first byte of a request to the end of its headers. */
  headersMs: number;
  /** From the first byte of a request to the end of its body. */
  requestMs: number;
  /** How long a connection may be idle between requests. */
  keepAliveMs: number;
}

/** Time-outs are enforced this much late at most. */
const CHECK_EVERY_MS = 1_000;
/** For the sender to read the reply before the connection is reset because of bytes that nobody reads. */
const LINGER_MS = 1_000;

/** Requests for sockets (`Upgrade`). */
export interface Sockets {
  /** Whether a request is for one of them; it is answered as any other if not. */
  takes(request: IncomingMessage): boolean;
  /** Takes over the connection of such a request. @param head what came behind the request. */
  serve(request: IncomingMessage, connection: Duplex, head: Buffer): void;
}

/** An HTTP server that answers with problem details whatever never reaches the application, too. */
export function createHttpServer(
  listener: RequestListener,
  { headersMs, requestMs, keepAliveMs }: ServerTimeouts,
  log: Logger,
  sockets?: Sockets,
): Server {
  const inFlight = new WeakMap<Duplex, ServerResponse>();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const problem = headProblem(request);
    if (problem === undefined) {
      inFlight.set(request.socket, response);
      listener(request, response);
      return;
    }
    const { status, headers, text } = refusal('invalid_request', problem, log);
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : text);
  };
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: Math.max(requestMs, headersMs),
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      // Node's own refusal has no body.
      requireHostHeader: false,
      shouldUpgradeCallback: (request) => sockets?.takes(request) ?? false,
    },
    serve,
  );
  // Node leaves out headers past a number, even a second Host or what a proxy added; their size has a limit anyway.
  server.maxHeadersCount = 0;
  // Without these, Node asks for the body before the application has seen the headers, or answers by itself.
  server.on('checkContinue', serve).on('checkExpectation', serve);
  server.on('upgrade', (request, connection: Duplex, head: Buffer) => {
    const problem = headProblem(request);
    if (problem === undefined) sockets?.serve(request, connection, head);
    else answerOn(connection, refusal('invalid_request', problem, log));
  });
  server.on('connect', (_, socket: Duplex) => {
    answerOn(socket, refusal('invalid_request', 'CONNECT is not supported', log));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const response = inFlight.get(socket);
    if (!socket.writable || error.code === 'ECONNRESET' || (response?.headersSent && !response.writableEnded)) {
      socket.destroy();
      return;
    }
    answerOn(socket, refusal(...parserProblem(error.code ?? ''), log));
  });
  return server;
}

/** @param code of Node's HTTP parser or server. */
function parserProblem(code: string): [ErrorCode, string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['headers_too_large', 'The headers of the request are larger than 16 KB'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['request_timeout', 'The request was not complete in time'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return ['payload_too_large', 'The chunk extensions are too large'];
    default:
      return ['invalid_request', 'The request is not valid HTTP'];
  }
}

/** Answers with the problem details of an error on a connection that no response belongs to, and closes it. */
export function answerErrorOn(connection: Duplex, error: unknown, instance: string, requestId: string): number {
  const refused = refusalOf(error, instance, requestId);
  answerOn(connection, refused);
  return refused.status;
}

interface Refusal {
  status: number;
  title: string;
  headers: Record<string, string>;
  text: string;
}

function refusal(code: ErrorCode, detail: string, log: Logger): Refusal {
  const requestId = newId();
  // The target of such a request may be anything.
  const refused = refusalOf(new DomainError(code, detail), '/', requestId);
  log.info({ requestId, status: refused.status, detail }, 'request refused');
  return refused;
}

function refusalOf(error: unknown, instance: string, requestId: string): Refusal {
  const { status, headers, body } = problemOf(error, instance, requestId);
  const text = JSON.stringify(body);
  return {
    status,
    title: String(body.title),
    text,
    headers: {
      ...headers,
      'Content-Type': 'application/problem+json',
      'Content-Length': String(Buffer.byteLength(text)),
      'X-Request-Id': requestId,
      Connection: 'close',
    },
  };
}

function answerOn(socket: Duplex, { status, title, headers, text }: Refusal): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${text}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
