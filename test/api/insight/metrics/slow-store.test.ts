import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually } from '../../../support/worker.ts';

const V1 = '/api/metrics/api/v1';
const MEGABYTE = 1024 * 1024;

/** How the store behaves; it says nothing unless it is told to. */
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const asked: string[] = [];
const store = createServer((request, response) => {
  asked.push(request.url ?? '');
  answer(request, response);
});

let app: TestApp;
beforeAll(async () => {
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  app = await testApp({ env: { METRICS_URL: `http://127.0.0.1:${(store.address() as AddressInfo).port}` } });
});
afterAll(async () => {
  await app.close();
  store.closeAllConnections();
  store.close();
});

test('a query ends by its timeout, though the store says nothing', async () => {
  answer = () => undefined;
  const refusal = { status: 'error', errorType: 'timeout', error: 'query timed out in query execution' };
  expect(await app.as(app.owner).get(503, `${V1}/query?query=a&timeout=10ms`)).toEqual(refusal);
  expect(await app.as(app.owner).get(503, '/api/metrics/query?query=a&timeout=10ms')).toMatchObject({
    code: 'unavailable',
  });
});

test('who leaves ends the query at the store', async () => {
  let left = 0;
  answer = (_, response) => void response.once('close', () => left++);
  const leaving = new AbortController();
  const { token } = app.application;
  const reply = fetch(`${app.url}${V1}/query?query=a`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leaving.signal,
  });
  const before = asked.length;
  await eventually(
    () => Promise.resolve(asked.length),
    (count) => count > before,
  );
  expect(left).toBe(0);
  leaving.abort();
  await expect(reply).rejects.toThrow();
  await eventually(
    () => Promise.resolve(left),
    (count) => count === 1,
  );
});

test('a tenant with many queries waits for its own, and others are answered', async () => {
  const held: ServerResponse[] = [];
  answer = (_, response) => void held.push(response);
  const give = (response: ServerResponse | undefined) =>
    response?.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"success","data":[]}');
  const before = asked.length;
  const replies = Array.from({ length: 5 }, () => app.as(app.owner).get(200, `${V1}/labels`));
  await eventually(
    () => Promise.resolve(held.length),
    (count) => count === 3,
  );
  answer = (_, response) => void give(response);
  await app.as(app.stranger).get(200, `${V1}/labels`);
  expect(asked.length).toBe(before + 4);
  held.forEach(give);
  await Promise.all(replies);
});

test('a query during which the store ends is not asked again', async () => {
  const dying = '/api/metrics/query?query=dying%2B1';
  answer = (request) => void request.socket.destroy();
  expect(await app.as(app.owner).get(503, dying)).toMatchObject({ code: 'unavailable' });
  const before = asked.length;
  answer = (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"success","data":[]}');
  expect(await app.as(app.stranger).get(422, dying)).toMatchObject({
    code: 'unprocessable',
    detail: 'the metrics store ended while this query ran; it is refused for an hour: write it in another way',
  });
  expect(asked.length).toBe(before);
  await app.as(app.owner).get(200, `${V1}/query?query=living`);
});

/** Answers with pieces of a megabyte between a head and a tail; `isWhole` says whether all were taken. */
function answerLong({ head, tail, piece, count }: { head: string; tail: string; piece: string; count: number }) {
  const sent = { isWhole: false };
  const text = function* () {
    yield head;
    for (let left = count; left > 0; left--) yield left > 1 ? `${piece},` : piece;
    yield tail;
  };
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    pipeline(Readable.from(text()), response).then(
      () => (sent.isWhole = true),
      () => undefined,
    );
  };
  return sent;
}

const LONG = 'x'.repeat(MEGABYTE);
const vector = (count: number) =>
  answerLong({
    head: '{"status":"success","data":{"resultType":"vector","result":[',
    piece: `{"metric":{"a":"${LONG}"},"value":[1,"1"]}`,
    tail: ']}}',
    count,
  });

test('the result of an answer of some megabytes stands on top, too', async () => {
  vector(3);
  const { data, result } = await app.as(app.owner).get(200, '/api/metrics/query?query=a');
  expect(result).toHaveLength(3);
  expect(data).toEqual({ resultType: 'vector', result });
});

test('an answer that would make a reply past 50 MB is a problem where it is sent twice', async () => {
  const sent = vector(30);
  expect(await app.as(app.owner).get(422, '/api/metrics/query?query=a')).toMatchObject({
    code: 'unprocessable',
    detail: 'the answer is larger than 25 MB; ask for fewer series or points',
  });
  expect(sent.isWhole).toBe(false);
});

test.each(['query?query=a', 'labels'])('an answer to %s past 50 MB breaks off', async (path) => {
  const sent =
    path === 'labels'
      ? answerLong({ head: '{"status":"success","data":[', piece: `"${LONG}"`, tail: ']}', count: 60 })
      : vector(60);
  const reply = await fetch(`${app.url}${V1}/${path}`, {
    headers: { authorization: `Bearer ${app.application.token}` },
  });
  expect(reply.status).toBe(200);
  let size = 0;
  const read = async () => {
    for await (const chunk of reply.body ?? []) size += chunk.length;
  };
  await expect(read()).rejects.toThrow();
  expect(size).toBeGreaterThan(MEGABYTE);
  expect(size).toBeLessThanOrEqual(50 * MEGABYTE);
  expect(sent.isWhole).toBe(false);
});
