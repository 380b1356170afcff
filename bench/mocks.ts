import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the mock server on one API process: replay with its journal in the modes `perEndpoint` and `strict`, and
 * requests that none of 500 steps answers; and the import of an HTTP archive of 1,000 entries. Options: `--rounds 3`, `--count 8000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, count: { type: 'string', default: '8000' } },
});
const STEPS = 500;
const CONNECTIONS = 16;
const HAR_ENTRIES = 1_000;

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

  const archive = JSON.stringify(harOf(HAR_ENTRIES));
  console.log(`the archive has ${archive.length} bytes`);
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
    const imported = { name: `archive ${round}`, format: 'har', content: archive };
    const startedAt = performance.now();
    const { scenario } = await service.call<{ scenario: { stepCount: number } }>('POST', `${root}/import`, imported);
    figures.note(`HAR of ${HAR_ENTRIES} entries`, performance.now() - startedAt, 'ms', '<= 1000');
    if (scenario.stepCount !== HAR_ENTRIES) throw new Error(`${scenario.stepCount} steps were imported`);
  }
  figures.print();
} finally {
  await service.stop();
}

/** An archive as a browser saves it: calls of an interface with headers, cookies and bodies of 2 KB. */
function harOf(count: number) {
  const text = (index: number) =>
    JSON.stringify({
      id: index,
      access_token: `secret-${index}`,
      rows: Array.from({ length: 20 }, () => 'x'.repeat(90)),
    });
  const entries = Array.from({ length: count }, (_, index) => ({
    startedDateTime: new Date(Date.UTC(2026, 0, 1) + index * 100).toISOString(),
    time: 20,
    request: {
      method: index % 4 === 0 ? 'POST' : 'GET',
      url: `https://api.example.com/v1/orders/${index}?page=${index % 7}`,
      httpVersion: 'HTTP/1.1',
      headers: Array.from({ length: 12 }, (__, at) => ({ name: `x-header-${at}`, value: 'y'.repeat(40) })),
      queryString: [{ name: 'page', value: String(index % 7) }],
      cookies: [{ name: 'sid', value: `cookie-${index}` }],
      ...(index % 4 === 0 && { postData: { mimeType: 'application/json', text: JSON.stringify({ order: index }) } }),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: 200,
      statusText: 'OK',
      httpVersion: 'HTTP/1.1',
      headers: [{ name: 'content-type', value: 'application/json' }],
      cookies: [],
      content: { size: 2_000, mimeType: 'application/json', text: text(index) },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 1, wait: 18, receive: 1 },
  }));
  return { log: { version: '1.2', creator: { name: 'bench', version: '1' }, entries } };
}
