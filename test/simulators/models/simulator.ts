import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MODEL_PROVIDERS, type ModelProvider } from '../../../domain/projects/integrations/model-provider-rules.ts';
import { answerOf, type ModelBehavior, piecesOf, type SimulatedRequest, usageOf } from './behaviors.ts';
import { INTERFACES, type ModelInterface } from './interfaces.ts';

export interface ModelSimulator {
  url: string;
  /** What an integration has as its `baseUrl`. */
  baseUrlOf: (provider: ModelProvider) => string;
  /** The only one that is taken. */
  apiKey: string;
  /** Requests that were let in, the oldest first. */
  requests: SimulatedRequest[];
  /** Streams that the client ended before they were complete. */
  readonly aborted: number;
  /** Answers the next requests so, one each. */
  next: (...behaviors: ModelBehavior[]) => void;
  /** Answers all requests so that nothing else was planned for. */
  always: (behavior: ModelBehavior) => void;
  /** Forgets requests and plans. */
  reset: () => void;
  close: () => Promise<void>;
}

/** Models by the interfaces of OpenAI and Anthropic. They answer at once, with a report on the facts that they are given. */
export async function modelSimulator(port = 0): Promise<ModelSimulator> {
  const apiKey = 'simulated-model-key';
  const requests: SimulatedRequest[] = [];
  let plans: ModelBehavior[] = [];
  let standard: ModelBehavior = { kind: 'answer' };
  let aborted = 0;
  const ended = new AbortController();

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const provider = MODEL_PROVIDERS.find((one) => INTERFACES[one].path === incoming.url?.split('?')[0]);
    if (!provider || incoming.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks).toString('utf8');
    const shape = INTERFACES[provider];
    const refuse = (status: number, code: string, message: string, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(shape.error(status, code, message)));
    };
    if (shape.keyOf(incoming.headers) !== apiKey) return refuse(401, 'authentication_error', 'invalid x-api-key');
    const body = JSON.parse(sent) as Record<string, unknown>;
    const behavior = plans[0] ?? standard;
    if (behavior.kind === 'plain') {
      const unknown = shape.newParameters.find((name) => body[name] !== undefined);
      if (unknown !== undefined) return refuse(400, 'invalid_request_error', `Unknown parameter: '${unknown}'`);
    }
    plans = plans.slice(1);
    const request: SimulatedRequest = { provider, ...shape.read(body), sent };
    requests.push(request);
    const { kind } = behavior;
    if (kind === 'limited')
      return refuse(429, 'rate_limit_error', 'Too many requests', {
        ...(behavior.retryAfter !== undefined && { 'retry-after': String(behavior.retryAfter) }),
      });
    if (kind === 'quota') return refuse(429, 'insufficient_quota', 'You exceeded your current quota');
    if (kind === 'status')
      return refuse(
        behavior.status,
        behavior.code ?? 'api_error',
        behavior.message ?? `Simulated ${behavior.status} of ${apiKey}`,
      );
    if (kind === 'hang') await once(response, 'close');
    else if (kind === 'html') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
    else await stream(response, shape, request, behavior);
  };

  const stream = async (
    response: ServerResponse,
    shape: ModelInterface,
    request: SimulatedRequest,
    behavior: ModelBehavior,
  ) => {
    const breaksOff = behavior.kind === 'broken' || behavior.kind === 'silent';
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.on('close', () => {
      if (!response.writableEnded && !ended.signal.aborted && !breaksOff) aborted++;
    });
    const text = answerOf(request, behavior);
    const usage = usageOf(request, text, behavior);
    response.write(shape.begin(request, usage));
    if (behavior.kind === 'trickle') {
      while (!response.destroyed && !ended.signal.aborted) {
        response.write(shape.piece('and '));
        await sleep(behavior.everyMs ?? 20);
      }
      return;
    }
    const pauseMs = 'pauseMs' in behavior ? behavior.pauseMs : undefined;
    const pieces = behavior.kind === 'refusal' || behavior.kind === 'silent' ? [] : piecesOf(text);
    const isCut = behavior.kind === 'broken' || behavior.kind === 'error' || behavior.kind === 'length';
    for (const piece of isCut ? pieces.slice(0, 2) : pieces) {
      response.write(shape.piece(piece));
      if (pauseMs !== undefined) await sleep(pauseMs);
    }
    if ('until' in behavior) await behavior.until;
    if (breaksOff) {
      // What was written arrives before the end of the connection does.
      await sleep(20);
      response.destroy();
    } else if (behavior.kind === 'error') response.end(shape.broken('Overloaded'));
    else {
      const end = behavior.kind === 'refusal' || behavior.kind === 'length' ? behavior.kind : 'ok';
      const isTold = behavior.kind !== 'no-usage' && behavior.kind !== 'plain';
      response.end(shape.end(end, isTold ? usage : undefined));
    }
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrlOf: (provider) => (provider === 'openai' ? `${url}/v1` : url),
    apiKey,
    requests,
    get aborted() {
      return aborted;
    },
    next(...behaviors) {
      plans = [...plans, ...behaviors];
    },
    always(behavior) {
      standard = behavior;
    },
    reset() {
      requests.length = 0;
      plans = [];
      standard = { kind: 'answer' };
      aborted = 0;
    },
    async close() {
      ended.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
