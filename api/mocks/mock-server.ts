import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { isOwnCredential } from '../../domain/identity/auth/own-credentials.ts';
import { hashSecret } from '../../domain/kernel/encryption/secrets.ts';
import { addressKey, clientAddress, type TrustedProxies } from '../../domain/kernel/outbound/client-address.ts';
import { contentCoding, isKnownCoding, unpacked } from '../../domain/kernel/shared/content-coding.ts';
import { DomainError, notFound } from '../../domain/kernel/shared/errors.ts';
import { plainHost } from '../../domain/kernel/outbound/host-rules.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import { assertShareLeft } from '../../domain/mocks/decide-batch.ts';
import { MOCK_KEY, serviceId } from '../../domain/mocks/mock-keys.ts';
import type { MockQueue } from '../../domain/mocks/serving/mock-queue.ts';
import { mockRequest } from '../../domain/mocks/serving/mock-request.ts';
import { HOPS_MAX, hopsOf, passedBy } from '../../domain/mocks/serving/upstream.port.ts';
import { BODY_MAX_BYTES } from '../../domain/mocks/scenarios/step-rules.ts';
import { withoutOwnCookies } from '../http/cookies.ts';
import type { HttpMetrics } from '../http/server/metrics.ts';
import { isUnexpected, problemOf } from '../http/problems.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { createReadBytes } from '../http/server/read-bytes.ts';
import { endBeforeBody } from '../http/server/unread-body.ts';
import { type ReplyDeps, sendReply } from './mock-replies.ts';

export interface MockServerDeps extends ReplyDeps {
  /** Base URL of the service for clients, without a trailing slash. */
  publicUrl: string;
  /** Base URL of mock scenarios, as clients under test reach them. */
  mocksUrl: string;
  /** Where they have an origin of their own: the host, as `plainHost` spells it, at which alone they answer. */
  host: string | undefined;
  /** By workspace. */
  limit: RateLimit;
  /** By address, for keys that lead nowhere. */
  unknownLimit: RateLimit;
  trustedProxies: TrustedProxies;
  basePath: string;
  log: Logger;
  metrics: HttpMetrics;
}

/** Answers requests below `/mocks/`; false for any other. */
export type MockServer = (request: IncomingMessage, response: ServerResponse) => boolean;

const ROUTE = '/mocks/{key}';
const RUN = /^[\x21-\x7e]{1,100}$/;
/** Most bytes of all request bodies that are being received. */
const HELD_MAX_BYTES = 128 * 1024 * 1024;

/** What a request of the client under test has to do with the service: nothing. */
const SAFE_HEADERS = {
  // What a scenario serves gets no rights of the service's origin when a browser shows it.
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
};

/**
 * The mock server, beside the application: no credential of the service, none of its cookies, bodies of any type as
 * they are. The key in the path stands for tenant and workspace.
 */
export function createMockServer(deps: MockServerDeps): MockServer {
  const { queues, limit, unknownLimit, trustedProxies, basePath, metrics } = deps;
  const prefix = `${basePath}/mocks/`;
  const ownId = serviceId(deps.publicUrl);
  const bodiesOf = createReadBytes(HELD_MAX_BYTES, HELD_MAX_BYTES / 2);

  const queueOf = async (key: string, request: IncomingMessage): Promise<MockQueue> => {
    const queue = MOCK_KEY.test(key) ? await queues.find(hashSecret(key)) : undefined;
    if (queue) return queue;
    const address = clientAddress(
      request.socket.remoteAddress ?? '',
      String(request.headers['x-forwarded-for'] ?? ''),
      trustedProxies,
    );
    await unknownLimit(addressKey(address));
    throw notFound('The mock workspace');
  };

  const serve = async (request: IncomingMessage, response: ServerResponse, key: string, target: string) => {
    if (deps.host !== undefined && plainHost(request.headers.host ?? '') !== deps.host)
      throw notFound('The mock workspace');
    const queue = await queueOf(key, request);
    const { place } = queue;
    await limit(place.workspaceId);
    assertShareLeft(place.tenantId);
    const run = runOf(request);
    const received = await bodiesOf(place.tenantId).readBytes(request, response, BODY_MAX_BYTES);
    const headers = headersOf(request, deps.publicUrl);
    if (hopsOf(headers) >= HOPS_MAX)
      throw new DomainError('upstream_error', `The request was passed on by ${HOPS_MAX} mock servers: it goes round`);
    if (passedBy(headers).includes(ownId))
      throw new DomainError(
        'upstream_error',
        'The request was passed on by this service: it is no upstream of its mock scenarios',
      );
    const called = mockRequest(request.method ?? 'GET', target, headers, await plainBody(received, headers));
    const reply = await queue.answer(called, run);
    await sendReply(
      deps,
      {
        request,
        response,
        queue,
        called,
        received,
        run,
        mockPath: prefix + key,
        mockUrl: `${deps.mocksUrl}/mocks/${key}`,
      },
      reply,
    );
  };

  return (request, response) => {
    const { url = '' } = request;
    if (!url.startsWith(prefix)) return false;
    const requestId = newId();
    const log = deps.log.child({ requestId });
    const startedAt = performance.now();
    response.setHeader('X-Request-Id', requestId);
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
    const [, key = '', target = ''] = /^([^/?]*)(.*)$/s.exec(url.slice(prefix.length)) ?? [];
    const path = target.startsWith('/') ? target : `/${target}`;
    metrics.inFlight.inc();
    serve(request, response, key, path)
      .catch((error: unknown) => {
        if (isUnexpected(error)) log.error({ err: error }, 'mock request failed');
        return sendProblem(request, response, error, { path, requestId });
      })
      .catch(() => response.destroy())
      .finally(() => {
        metrics.inFlight.dec();
        const durationMs = performance.now() - startedAt;
        const [method = '', status] = [request.method, response.statusCode];
        metrics.duration.observe({ method, route: ROUTE, status: String(status) }, durationMs / 1_000);
        log.info({ method, route: ROUTE, status, durationMs: Math.round(durationMs * 10) / 10 }, 'request');
      });
    return true;
  };
}

async function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { path, requestId }: { path: string; requestId: string },
): Promise<void> {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, headers, body } = problemOf(error, `/mocks${path.split('?')[0]}`, requestId);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('content-type', 'application/problem+json');
  const text = Buffer.from(JSON.stringify(body));
  if (request.complete) {
    response.setHeader('content-length', String(text.length));
    response.end(text);
    return;
  }
  response.setHeader('connection', 'close');
  await endBeforeBody(request, response, text);
}

/** The run of a request. Throws `invalid_request`. */
function runOf({ headers }: IncomingMessage): string {
  const run = headers['x-mock-run'];
  if (run === undefined || run === '') return '';
  if (typeof run === 'string' && RUN.test(run)) return run;
  throw new DomainError('invalid_request', 'X-Mock-Run must be 1 to 100 printable characters without spaces');
}

/** Without what a browser or a client of the service sends to every path of its host. */
function headersOf(request: IncomingMessage, publicUrl: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(request.headers))
    headers[name] = typeof value === 'string' ? value : value.join(', ');
  const cookie = withoutOwnCookies(headers.cookie ?? '');
  if (cookie === '') delete headers.cookie;
  else headers.cookie = cookie;
  if (isOwnCredential(headers.authorization ?? '', publicUrl)) delete headers.authorization;
  // The address of a page of the service may have a link's token in it.
  if (headers.referer !== undefined && URL.parse(headers.referer)?.origin === new URL(publicUrl).origin)
    delete headers.referer;
  return headers;
}

/** A body without its compression; undefined where that is broken, unknown, or hides too much. */
async function plainBody(bytes: Buffer, headers: Record<string, string>): Promise<Buffer | undefined> {
  const coding = contentCoding(headers['content-encoding']);
  if (bytes.length === 0 || coding === '' || coding === 'identity') return bytes;
  if (!isKnownCoding(coding)) return undefined;
  try {
    return await unpacked(coding, bytes, BODY_MAX_BYTES);
  } catch {
    return undefined;
  }
}
