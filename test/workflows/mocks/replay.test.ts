import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mockDriftContract } from '../../../workflows/mocks/mock-drift.contract.ts';
import { testApp } from '../../support/app.ts';
import { recording, replay } from '../../support/histories.ts';
import { mockStage } from '../../support/mocks.ts';
import { startWorker } from '../../support/worker.ts';

test('a comparison of a scenario that is under way goes on with the code of today', () => replay('mock-drift'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/mocks/replay`. Its steps take two activities. */
recording('records the history', async ({ keep }) => {
  const upstream = createServer((request, response) => {
    if (request.url === '/steps/3') response.statusCode = 404;
    response.setHeader('content-type', 'application/json').end('{"id": 1}');
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const app = await testApp();
  const worker = await startWorker(app, ['flows-v1']);
  try {
    const { made, member, path } = mockStage(app);
    await made({
      name: 'drift',
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      steps: Array.from({ length: 30 }, (_, index) => ({
        request: { method: 'GET', path: `/steps/${index}` },
        response: { headers: { 'content-type': 'application/json' }, body: { id: index } },
      })),
    });
    const { id: driftId } = await member.post(202, path('drift', '/drift'));
    await keep('mock-drift', app.launch.idOf(mockDriftContract, { ...app.tenantKey, driftId }));
  } finally {
    await worker.stop();
    await app.close();
    upstream.close();
    upstream.closeAllConnections();
  }
});
