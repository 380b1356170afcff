import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  composeAnswer,
  cookieBelow,
  drawnDelayMs,
  drawnFault,
  headerValue,
  isOwnHeader,
  type MockAnswer,
} from '../../domain/mocks/serving/answer.ts';
import type { MockPlace, Reply } from '../../domain/mocks/decide-batch.ts';
import type { MockQueue } from '../../domain/mocks/serving/mock-queue.ts';
import type { MockQueues } from '../../domain/mocks/serving/mock-queues.ts';
import type { MockRequest } from '../../domain/mocks/serving/mock-request.ts';
import { headerWithOwnAddresses, withOwnAddresses } from '../../domain/mocks/serving/own-addresses.ts';
import type { RecordCall } from '../../domain/mocks/recording/recording.ts';
import type { ActiveScenario } from '../../domain/mocks/serving/replay.queries.ts';
import { linksOf, upstreamOf } from '../../domain/mocks/serving/scenario-upstreams.ts';
import type { ForwardUpstream } from '../../domain/mocks/serving/upstream.port.ts';
import { DomainError, notFound } from '../../domain/kernel/shared/errors.ts';
import { TemplateError } from '../../domain/events/webhooks/body-template.ts';
import { goneSignal } from '../http/server/gone-signal.ts';
import { sendFaulty, sendSlowly } from './faulty-answers.ts';

/** Where answers come from that no step has. */
export interface ReplyDeps {
  queues: MockQueues;
  forward: ForwardUpstream;
  record: RecordCall;
}

/** A request to a workspace, while it is answered. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  queue: MockQueue;
  called: MockRequest;
  /** The body as it came. */
  received: Buffer;
  run: string;
  /** Path of the workspace, to which cookies are bound. */
  mockPath: string;
  /** Where clients reach the workspace. */
  mockUrl: string;
}

/** Sends what the queue replied to a request. Throws what the client is told otherwise. */
export async function sendReply(deps: ReplyDeps, exchange: Exchange, reply: Reply): Promise<void> {
  const { response, called, queue } = exchange;
  switch (reply.kind) {
    case 'gone':
      deps.queues.forget(queue.place);
      throw notFound('The mock workspace');
    case 'inactive':
      throw new DomainError('mock_unmatched', `No scenario of the workspace ${reply.workspace} is armed`, {
        members: { nearest: [] },
      });
    case 'recording':
      named(response, reply.scenario);
      return send(
        exchange,
        linkedBack(await recorded(deps, exchange, reply.scenario, queue.place), exchange, reply.scenario),
      );
    case 'step':
      return sendStep(exchange, reply);
    case 'refused': {
      const { status, seq, fault } = reply;
      named(response, reply.scenario);
      response.setHeader('X-Mock-Step', String(seq));
      const pointer = `#${fault.pointer}`;
      throw new DomainError(status === 422 ? 'unprocessable' : 'invalid_request', `${pointer} ${fault.detail}`, {
        fields: [{ pointer, detail: fault.detail }],
      });
    }
    case 'unusable':
      named(response, reply.scenario);
      throw new DomainError('unprocessable', `The schemas of step ${reply.seq}: ${reply.reason}`);
    case 'too_costly':
      named(response, reply.scenario);
      throw new DomainError('unprocessable', `Which step answers is not known: ${reply.reason}`);
    case 'not_now':
      throw reply.error;
    case 'unmatched': {
      const { scenario, workspace, nearest, unmatched } = reply;
      named(response, scenario);
      deps.queues.announceUnmatched(queue.place, scenario.id, {
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
    members: { scenario: name, nearest: nearest ?? null },
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
  const { response, queue, mockPath } = exchange;
  named(response, scenario);
  response.setHeader('X-Mock-Step', String(hit.step.seq));
  const left = goneSignal(response);
  const body = reply.body ?? (bodyForm === null ? Buffer.alloc(0) : await queue.bodyOf(scenario.id, hit.step.seq));
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

async function passedOn(deps: ReplyDeps, exchange: Exchange, scenario: ActiveScenario): Promise<MockAnswer> {
  const { called, received, response } = exchange;
  const passed = upstreamOf(scenario, called.target);
  if (!passed) throw new DomainError('upstream_error', 'The upstream: the scenario has none for this path');
  const outcome = await deps.forward(
    {
      upstream: passed.upstream,
      method: called.method,
      target: passed.target,
      headers: called.headers,
      bytes: received,
    },
    goneSignal(response),
  );
  if ('answer' in outcome) return { ...outcome.answer, body: outcome.answer.bytes };
  const { kind, message } = outcome.failure;
  throw new DomainError(kind === 'timeout' ? 'upstream_timeout' : 'upstream_error', `The upstream: ${message}`);
}

async function recorded(
  deps: ReplyDeps,
  { called, received, response }: Exchange,
  scenario: ActiveScenario,
  place: MockPlace,
): Promise<MockAnswer> {
  const { step, answer } = await deps.record(place, scenario, { called, received }, goneSignal(response));
  if (step !== undefined) response.setHeader('X-Mock-Step', String(step));
  return { ...answer, body: answer.bytes };
}

/** An answer whose links to the upstreams lead to the mock server: clients that follow them stay with the scenario. */
function linkedBack(answer: MockAnswer, { mockUrl }: Exchange, scenario: ActiveScenario): MockAnswer {
  const { headers, body } = answer;
  const links = linksOf(scenario, mockUrl);
  if (links.length === 0 || headers['content-encoding'] !== undefined) return answer;
  const linked = (value: string) =>
    links.reduce((text, { upstream, baseUrl }) => headerWithOwnAddresses(text, upstream, baseUrl), value);
  const [type = ''] = [headers['content-type'] ?? ''].flat();
  return {
    ...answer,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        typeof value === 'string' ? linked(value) : value.map(linked),
      ]),
    ),
    body: links.reduce((bytes, { upstream, baseUrl }) => withOwnAddresses(bytes, type, upstream, baseUrl), body),
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
