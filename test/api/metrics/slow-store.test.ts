import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually } from '../../support/worker.ts';

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

test('an answer past 50 MB is a problem, or breaks off', async () => {
  const value = 'x'.repeat(MEGABYTE);
  let isWhole = false;
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"status":"success","data":{"resultType":"vector","result":[');
    void (async () => {
      for (let count = 0; count < 60 && !response.destroyed; count++)
        if (!response.write(`{"metric":{"a":"${value}"},"value":[1,"1"]},`))
          await Promise.race([once(response, 'drain'), once(response, 'close')]);
      isWhole = !response.destroyed;
      response.end('{}]}}');
    })();
  };
  expect(await app.as(app.owner).get(422, '/api/metrics/query?query=a')).toMatchObject({
    code: 'unprocessable',
    detail: 'the answer is larger than 50 MB; ask for fewer series or points',
  });
  const reply = await fetch(`${app.url}${V1}/query?query=a`, {
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
  expect(isWhole).toBe(false);
});
