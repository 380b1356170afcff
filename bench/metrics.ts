import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures metrics: ingest in batches of 1,000 events over 2,000 series, the time from a reply until the event can be
 * queried, and queries through the API against those at the store itself. Options: `--rounds 3`, `--batches 300`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, batches: { type: 'string', default: '300' } },
});
const SERIES = 2_000;
const BATCH = 1_000;
const CONNECTIONS = 4;
const QUERIES = 200;
const POINTS = 1_000;

const service = await startService(['system-v1']);
try {
  const { metricsUrl, tenantId, token, url } = service;
  const figures = new Figures();
  const generator = await service.start('http-load.ts');
  const event = (index: number) => ({
    metric: 'bench.count',
    type: 'count',
    tags: { series: String(index % SERIES), org: `org-${index % 7}` },
  });
  const batches = [0, BATCH].map((first) => ({
    method: 'POST' as const,
    path: '/api/metrics/ingest',
    body: { events: Array.from({ length: BATCH }, (_, index) => event(first + index)) },
  }));
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  const medianOf = async (count: number, work: () => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    for (let index = 0; index < count; index++) times.push(await timed(work));
    return quantile(times, 0.5);
  };
  const query = async (expression: string): Promise<number> => {
    const reply = await service.call<{ result: { value: [number, string] }[] }>(
      'GET',
      `/api/metrics/query?${new URLSearchParams({ query: expression })}`,
    );
    return Number(reply.result[0]?.value[1] ?? 0);
  };
  const atStore = async (path: string, parameters: Record<string, string>) => {
    const fence = { extra_label: `__tenant_id__=${tenantId}` };
    await (await fetch(`${metricsUrl}/api/v1/${path}?${new URLSearchParams({ ...parameters, ...fence })}`)).text();
  };
  const throughApi = async (path: string, parameters: Record<string, string>) => {
    const headers = { authorization: `Bearer ${token}` };
    await (await fetch(`${url}/api/metrics/api/v1/${path}?${new URLSearchParams(parameters)}`, { headers })).text();
  };

  // 1,000 series with 1,000 points each, straight into the store: one point every five minutes.
  const end = Math.floor(Date.now() / 300_000) * 300_000;
  const timestamps = Array.from({ length: POINTS }, (_, index) => end - (POINTS - 1 - index) * 300_000);
  const lines = Array.from({ length: 1_000 }, (_, series) =>
    JSON.stringify({
      metric: { __name__: 'bench_wide', series: String(series) },
      values: timestamps.map((_at, index) => index + series),
      timestamps,
    }),
  );
  await fetch(`${metricsUrl}/api/v1/import?extra_label=__tenant_id__=${tenantId}`, {
    method: 'POST',
    body: lines.join('\n'),
  });
  await fetch(`${metricsUrl}/internal/force_flush`);
  const wide = {
    query: 'bench_wide',
    start: String((timestamps[0] ?? 0) / 1_000),
    end: String(end / 1_000),
    step: '300',
  };

  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const result: HttpLoadResult = await generate(generator, {
      url,
      token,
      requests: batches,
      connections: CONNECTIONS,
      count: Number(options.batches),
    });
    const failed = unexpected(result, 202);
    if (failed > 0) throw new Error(`${failed} batches were refused`);
    figures.note('ingest', (Number(options.batches) * BATCH) / result.seconds, '/s', '>= 25000');
    figures.note('ingest of 1,000: p50', quantile(result.latenciesMs, 0.5));
    figures.note('ingest of 1,000: p95', quantile(result.latenciesMs, 0.95), 'ms', '<= 80');

    const before = await query('sum(sum_over_time(bench_count[1h]))');
    const seenMs = await timed(async () => {
      await service.callAs(token, 'POST', '/api/metrics/ingest', { events: [event(0)] });
      while ((await query('sum(sum_over_time(bench_count[1h]))')) <= before)
        await new Promise((resolve) => setTimeout(resolve, 100));
    });
    figures.note('a known series is seen after', seenMs / 1_000, 's', '<= 6');

    const instant = { query: 'bench_wide{series="7"}' };
    const direct = await medianOf(QUERIES, () => atStore('query', instant));
    figures.note('instant query at the store: p50', direct);
    figures.note(
      'instant query, more than that: p50',
      (await medianOf(QUERIES, () => throughApi('query', instant))) - direct,
      'ms',
      '<= 5',
    );
    const wideDirect = await medianOf(5, () => atStore('query_range', wide));
    figures.note('1,000 series of 1,000 points at the store', wideDirect);
    figures.note(
      '1,000 series of 1,000 points, times that',
      (await medianOf(5, () => throughApi('query_range', wide))) / wideDirect,
      '',
      '<= 1.5',
    );
  }
  figures.print();
} finally {
  await service.stop();
}
