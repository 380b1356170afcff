import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the mock server on one API process: replay with its journal in the modes `perEndpoint` and `strict`, and
 * requests that none of 500 steps answers. Options: `--rounds 3`, `--count 8000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, count: { type: 'string', default: '8000' } },
});
const STEPS = 500;
const CONNECTIONS = 16;

const service = await startService([]);
try {
  const { token, url } = service;
  const count = Number(options.count);
  const root = '/api/mocks/workspaces/bench/scenarios';
  const figures = new Figures();
  const generator = await service.start('http-load.ts');
  const steps = (times: number | null) =>
    Array.from({ length: STEPS }, (_, index) => ({
      request: {
        method: 'GET',
        path: `/services/data/v64.0/sobjects/Account/${index}`,
        query: { fields: 'Id,Name' },
        headers: { 'x-client': 'bench' },
      },
      response: { body: { Id: String(index), Name: 'x'.repeat(500) } },
      times,
    }));
  const { baseUrl } = await service.call<{ baseUrl: string }>('POST', root, { name: 'endpoints', steps: steps(null) });
  // Each step of it answers often enough for all rounds in which the cursor passes it.
  const oneStep = [{ request: { path: '/**' }, response: { body: { ok: true } }, times: 1_000_000 }];
  await service.call('POST', root, { name: 'strict', mode: 'strict', steps: oneStep });
  const prefix = new URL(baseUrl).pathname;
  const requests = (of: (index: number) => string) =>
    Array.from({ length: STEPS }, (_, index) => ({
      method: 'GET' as const,
      path: `${prefix}/services/data/v64.0/sobjects/${of(index)}?fields=${encodeURIComponent('Id,Name')}`,
      headers: { 'x-client': 'bench' },
    }));
  const load = async (
    name: string,
    settings: { count: number; status: number; of: (index: number) => string; rate: string; p95?: string },
  ) => {
    const cpu = service.measureCpu();
    const result: HttpLoadResult = await generate(generator, {
      url,
      token,
      requests: requests(settings.of),
      connections: CONNECTIONS,
      count: settings.count,
    });
    const failed = unexpected(result, settings.status);
    if (failed > 0) throw new Error(`${failed} requests had another answer: ${JSON.stringify(result.statuses)}`);
    figures.note(name, settings.count / result.seconds, '/s', settings.rate);
    figures.noteCpu(name, cpu(), settings.count);
    figures.note(`${name}: p95`, quantile(result.latenciesMs, 0.95), 'ms', settings.p95);
  };

  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    await service.call('POST', `${root}/endpoints/arm?replace=true`);
    const replay = { count, status: 200, of: (index: number) => `Account/${index}`, rate: '>= 2000', p95: '<= 15' };
    await load('replay, perEndpoint', replay);
    await load('unmatched over 500 steps', {
      count: Math.ceil(count / 8),
      status: 404,
      of: (index) => `Contact/${index}`,
      rate: '>= 300',
    });
    await service.call('POST', `${root}/strict/arm?replace=true`);
    await load('replay, strict', replay);
  }
  figures.print();
} finally {
  await service.stop();
}
