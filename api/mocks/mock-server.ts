import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Logger } from 'pino';
import { hashSecret } from '../../domain/auth/secrets.ts';
import { addressKey, clientAddress, type TrustedProxies } from '../../domain/shared/client-address.ts';
import { DomainError, notFound } from '../../domain/shared/errors.ts';
import { newId } from '../../domain/shared/ids.ts';
import {
  composeAnswer,
  cookieBelow,
  drawnDelayMs,
  drawnFault,
  headerValue,
  isOwnHeader,
  type MockAnswer,
} from '../../domain/mocks/answer.ts';
import { headerWithOwnAddresses, withOwnAddresses } from '../../domain/mocks/own-addresses.ts';
import { MOCK_KEY } from '../../domain/mocks/mock-keys.ts';
import type { MockLane, MockPlace, Reply } from '../../domain/mocks/mock-lane.ts';
import type { MockLanes } from '../../domain/mocks/mock-lanes.ts';
import { type MockRequest, mockRequest } from '../../domain/mocks/mock-request.ts';
import type { RecordCall } from '../../domain/mocks/recording.ts';
import type { ActiveScenario } from '../../domain/mocks/replay.queries.ts';
import { BODY_MAX_BYTES } from '../../domain/mocks/step-rules.ts';
import type { ForwardUpstream } from '../../domain/mocks/upstream.port.ts';
import { TemplateError } from '../../domain/webhooks/body-template.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import { isUnexpected, problemOf } from '../http/problems.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { createReadBytes } from '../http/read-bytes.ts';
import { endBeforeBody } from '../http/unread-body.ts';
import { sendFaulty, sendSlowly } from './faulty-answers.ts';

export interface MockServerDeps {
  lanes: MockLanes;
  forward: ForwardUpstream;
  record: RecordCall;
  /** Base URL of the service for clients, without a trailing slash. */
  publicUrl: string;
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
/** Of the bodies that are being received. */
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
  const { lanes, limit, unknownLimit, trustedProxies, basePath, metrics } = deps;
  const prefix = `${basePath}/mocks/`;
  const bodiesOf = createReadBytes(HELD_MAX_BYTES, HELD_MAX_BYTES / 2);

  const laneOf = async (key: string, request: IncomingMessage): Promise<MockLane> => {
    const lane = MOCK_KEY.test(key) ? await lanes.find(hashSecret(key)) : undefined;
    if (lane) return lane;
    const address = clientAddress(
      request.socket.remoteAddress ?? '',
      String(request.headers['x-forwarded-for'] ?? ''),
      trustedProxies,
    );
    await unknownLimit(addressKey(address));
    throw notFound('The mock workspace');
  };

  const serve = async (request: IncomingMessage, response: ServerResponse, key: string, target: string) => {
    const lane = await laneOf(key, request);
    const { place } = lane;
    await limit(place.workspaceId);
    const run = runOf(request);
    const received = await bodiesOf(place.tenantId).readBytes(request, response, BODY_MAX_BYTES);
    const headers = headersOf(request);
    const called = mockRequest(request.method ?? 'GET', target, headers, await unpacked(received, headers));
    const reply = await lane.answer(called, run);
    await sendReply(
      deps,
      {
        request,
        response,
        lane,
        called,
        received,
        run,
        mockPath: prefix + key,
        mockUrl: `${deps.publicUrl}/mocks/${key}`,
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

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  lane: MockLane;
  called: MockRequest;
  /** The body as it came. */
  received: Buffer;
  run: string;
  /** Path of the workspace, to which cookies are bound. */
  mockPath: string;
  /** Where clients reach the workspace. */
  mockUrl: string;
}

async function sendReply(deps: MockServerDeps, exchange: Exchange, reply: Reply): Promise<void> {
  const { response, called, lane } = exchange;
  switch (reply.kind) {
    case 'gone':
      deps.lanes.forget(lane.place);
      throw notFound('The mock workspace');
    case 'inactive':
      throw new DomainError('mock_unmatched', `No scenario of the workspace ${reply.workspace} is armed`, {
        members: { nearest: [] },
      });
    case 'recording':
      named(response, reply.scenario);
      return send(
        exchange,
        linkedBack(await recorded(deps, exchange, reply.scenario, lane.place), exchange, reply.scenario),
      );
    case 'step':
      return sendStep(exchange, reply);
    case 'unmatched': {
      const { scenario, workspace, nearest, unmatched } = reply;
      named(response, scenario);
      deps.lanes.announceUnmatched(lane.place, scenario.id, {
        workspace,
        name: scenario.name,
        run: exchange.run,
        method: called.method,
        path: called.path.slice(0, 500),
        unmatched,
      });
      if (scenario.unmatched === 'pass_through')
        return send(exchange, linkedBack(await passedOn(deps, exchange, scenario), exchange, scenario));
      if (scenario.unmatched === 'not_found') throw unmatchedCall(called, scenario, nearest);
      return send(exchange, fixedAnswer(scenario.unmatched));
    }
  }
}

const unmatchedCall = ({ method, path }: MockRequest, { name }: ActiveScenario, nearest: unknown) =>
  new DomainError('mock_unmatched', `No step of the scenario ${name} answers ${method} ${path.slice(0, 500)}`, {
    members: { scenario: name, nearest },
  });

const fixedAnswer = ({ status, headers = {}, body }: Exclude<ActiveScenario['unmatched'], string>): MockAnswer => ({
  status,
  headers: {
    ...(body !== undefined && {
      'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json',
    }),
    ...headers,
  },
  body: body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

async function sendStep(exchange: Exchange, reply: Extract<Reply, { kind: 'step' }>): Promise<void> {
  const { scenario, hit, bodyForm } = reply;
  const { response, lane, mockPath } = exchange;
  named(response, scenario);
  response.setHeader('X-Mock-Step', String(hit.step.seq));
  const left = leftSignal(response);
  const body = reply.body ?? (bodyForm === null ? Buffer.alloc(0) : await lane.bodyOf(scenario.id, hit.step.seq));
  const composed = answerOf(() => composeAnswer(hit, body, bodyForm), hit.step.seq);
  const answer = linkedBack(composed, exchange, scenario);
  const delayMs = drawnDelayMs(scenario.seed, hit);
  if (delayMs > 0) await sleep(delayMs, undefined, { signal: left }).catch(() => undefined);
  if (left.aborted) return;
  const fault = drawnFault(scenario.seed, hit);
  if (fault) return sendFaulty(response, safe(answer, mockPath), fault.kind, left);
  const { throttle } = hit.step.response;
  if (throttle !== undefined) return sendSlowly(response, safe(answer, mockPath), throttle, left);
  return send(exchange, answer);
}

function answerOf(compose: () => MockAnswer, seq: number): MockAnswer {
  try {
    return compose();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new DomainError('internal', `The template of step ${seq} failed: ${error.message}`);
  }
}

async function passedOn(deps: MockServerDeps, exchange: Exchange, scenario: ActiveScenario): Promise<MockAnswer> {
  const { called, received, response } = exchange;
  const outcome = await deps.forward(
    {
      upstream: scenario.upstream ?? '',
      method: called.method,
      target: called.target,
      headers: called.headers,
      bytes: received,
    },
    leftSignal(response),
  );
  if ('answer' in outcome) return { ...outcome.answer, body: outcome.answer.bytes };
  const { kind, message } = outcome.failure;
  throw new DomainError(kind === 'timeout' ? 'upstream_timeout' : 'upstream_error', `The upstream: ${message}`);
}

async function recorded(
  deps: MockServerDeps,
  { called, received, response }: Exchange,
  scenario: ActiveScenario,
  place: MockPlace,
): Promise<MockAnswer> {
  const { step, answer } = await deps.record(place, scenario, { called, received }, leftSignal(response));
  if (step !== undefined) response.setHeader('X-Mock-Step', String(step));
  return { ...answer, body: answer.bytes };
}

/** An answer whose links to the upstream lead to the mock server: clients that follow them stay with the scenario. */
function linkedBack(answer: MockAnswer, { mockUrl }: Exchange, { upstream }: ActiveScenario): MockAnswer {
  const { headers, body } = answer;
  if (upstream === null || headers['content-encoding'] !== undefined) return answer;
  const linked = (value: string) => headerWithOwnAddresses(value, upstream, mockUrl);
  const [type = ''] = [headers['content-type'] ?? ''].flat();
  return {
    ...answer,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        typeof value === 'string' ? linked(value) : value.map(linked),
      ]),
    ),
    body: withOwnAddresses(body, type, upstream, mockUrl),
  };
}

const named = (response: ServerResponse, { name }: ActiveScenario) =>
  response.setHeader('X-Mock-Scenario', encodeURIComponent(name));

/** An answer without what the service alone says, and with cookies that come back to the mock server only. */
function safe({ status, headers, body }: MockAnswer, mockPath: string): MockAnswer {
  const kept: MockAnswer['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (isOwnHeader(name)) continue;
    const values = [value].flat().map(headerValue);
    kept[name] = name === 'set-cookie' ? values.map((cookie) => cookieBelow(mockPath, cookie)) : values;
  }
  return { status, headers: kept, body };
}

function send({ response, mockPath }: Pick<Exchange, 'response' | 'mockPath'>, answer: MockAnswer): void {
  const { status, headers, body } = safe(answer, mockPath);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status !== 204 && status !== 304) response.setHeader('content-length', String(body.length));
  response.end(body);
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

/** Cookies of the service, which a browser sends to every path of its host. */
const OWN_COOKIES = /^(__Host-)?qs_(session|oidc)=/;

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(request.headers))
    headers[name] = typeof value === 'string' ? value : value.join(', ');
  const cookies = (headers.cookie ?? '').split(/;\s*/).filter((pair) => pair !== '' && !OWN_COOKIES.test(pair));
  if (cookies.length > 0) headers.cookie = cookies.join('; ');
  else delete headers.cookie;
  return headers;
}

const UNPACK = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A body without its compression; undefined where that is broken, unknown, or hides too much. */
async function unpacked(bytes: Buffer, headers: Record<string, string>): Promise<Buffer | undefined> {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase().replace(/^x-/, '');
  if (bytes.length === 0 || encoding === '' || encoding === 'identity') return bytes;
  if (!Object.hasOwn(UNPACK, encoding)) return undefined;
  try {
    return await UNPACK[encoding as keyof typeof UNPACK](bytes, { maxOutputLength: BODY_MAX_BYTES });
  } catch {
    return undefined;
  }
}

/** Aborts when the client leaves before it has the whole answer. */
function leftSignal(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  const abort = () => {
    if (!response.writableFinished) left.abort();
  };
  if (response.closed) abort();
  else response.once('close', abort);
  return left.signal;
}
