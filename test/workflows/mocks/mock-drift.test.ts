import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { mockStage } from '../../support/mocks.ts';
import { eventually, startWorker } from '../../support/worker.ts';

test('a workflow asks the upstream for the GET steps, and notes what differs', async () => {
  const asked: string[] = [];
  const upstream = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url === '/gone') response.statusCode = 404;
    response.setHeader('content-type', 'application/json').end('{"id": "7", "more": true}');
  }).listen(0, '127.0.0.1');
  const app = await testApp();
  const worker = await startWorker(app, ['flows-v1']);
  try {
    const { made, member, path } = mockStage(app);
    const get = (target: string, body: unknown, query?: object) => ({
      request: { method: 'GET', path: target, ...(query && { query }) },
      response: { headers: { 'content-type': 'application/json' }, body },
    });
    await new Promise<void>((resolve) => (upstream.listening ? resolve() : upstream.once('listening', resolve)));
    await made({
      name: 'drift',
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      steps: [
        get('/same', { id: '1', more: false }, { page: '2' }),
        get('/gone', {}),
        get('/typed', { id: 7, more: true }),
        get('/any/{id}', {}),
        { request: { method: 'POST', path: '/same' }, response: {} },
      ],
    });
    await member.post(202, path('drift', '/drift'));
    const { drift } = await eventually(
      () => member.get(200, path('drift', '/report')),
      ({ drift: { endedAt } }: Json) => endedAt !== null,
    );
    expect(drift).toMatchObject({
      status: 'completed',
      checked: 3,
      skipped: 2,
      findings: [
        { seq: 2, path: '/gone', changes: [{ kind: 'status', was: 200, is: 404 }], error: null },
        { seq: 3, path: '/typed', changes: [{ kind: 'type', path: '$.id', was: 'number', is: 'string' }] },
      ],
    });
    expect(asked.toSorted()).toEqual(['GET /gone', 'GET /same?page=2', 'GET /typed']);
  } finally {
    await worker.stop();
    await app.close();
    upstream.close();
    upstream.closeAllConnections();
  }
});
