import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MockAnswer } from '../../domain/mocks/serving/answer.ts';
import type { FaultKind } from '../../domain/mocks/scenarios/step-rules.ts';

/** An answer that hangs gives its connection back after so long, or at once where so many hang already. */
const HANG_MAX_MS = 300_000;
const HANGING_MAX = 500;
let hanging = 0;

/** Longer than anybody waits for the end of a slow answer. */
const SLOW_MAX_MS = 600_000;
const SLICES_PER_SECOND = 10;

function writeHead(response: ServerResponse, { status, headers, body }: MockAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status !== 204 && status !== 304) response.setHeader('content-length', String(body.length));
}

/** Sends an answer as a failing host would. */
export async function sendFaulty(
  response: ServerResponse,
  answer: MockAnswer,
  kind: FaultKind,
  left: AbortSignal,
): Promise<void> {
  const { socket } = response;
  switch (kind) {
    case 'reset':
      socket?.resetAndDestroy();
      return;
    case 'empty':
      socket?.destroy();
      return;
    case 'truncated': {
      writeHead(response, answer);
      // Without a body there is nothing to cut: more is announced than comes.
      if (answer.body.length === 0) response.setHeader('content-length', '1000');
      response.flushHeaders();
      await new Promise<void>((resolve) => {
        response.write(answer.body.subarray(0, Math.ceil(answer.body.length / 2)), () => resolve());
      });
      socket?.destroySoon();
      return;
    }
    case 'malformed':
      socket?.end(`HTTP/1.1 ${answer.status}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nthis is no chunk`);
      return;
    case 'hang':
      return hang(response, left);
    case 'rate_limit':
      response.statusCode = 429;
      response.setHeader('retry-after', '1');
      response.setHeader('content-type', 'application/json');
      response.end('{"error":"rate_limited","message":"Too many requests"}');
  }
}

async function hang(response: ServerResponse, left: AbortSignal): Promise<void> {
  if (hanging < HANGING_MAX) {
    hanging++;
    await sleep(HANG_MAX_MS, undefined, { signal: left, ref: false }).catch(() => undefined);
    hanging--;
  }
  response.socket?.destroy();
}

/** Sends an answer with so many bytes a second. */
export async function sendSlowly(
  response: ServerResponse,
  answer: MockAnswer,
  bytesPerSecond: number,
  left: AbortSignal,
): Promise<void> {
  writeHead(response, answer);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const perSlice = Math.max(1, Math.ceil(bytesPerSecond / SLICES_PER_SECOND));
  const pauseMs = (perSlice / bytesPerSecond) * 1_000;
  const endsAt = performance.now() + SLOW_MAX_MS;
  for (let at = 0; at < answer.body.length && !left.aborted && performance.now() < endsAt; at += perSlice) {
    if (!response.write(answer.body.subarray(at, at + perSlice)))
      await once(response, 'drain', { signal: left }).catch(() => undefined);
    await sleep(pauseMs, undefined, { signal: left }).catch(() => undefined);
  }
  if (performance.now() >= endsAt) response.destroy();
  else response.end();
}
