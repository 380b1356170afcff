import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createHttpMetrics } from '../../../../api/http/server/metrics.ts';

test('the metrics of an API observe nothing of the process: whoever closes the API need not end that', async () => {
  const names = createHttpMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name);
  expect(names).toEqual(['quayside_http_request_duration_seconds', 'quayside_http_requests_in_flight']);
});

test('a process that serves metrics adds those of Node', async () => {
  const script = `
    const { serveMetrics } = await import('./domain/metrics-server.ts');
    const { createHttpMetrics } = await import('./api/http/server/metrics.ts');
    const server = await serveMetrics(createHttpMetrics().registry, { host: '127.0.0.1', port: 0 });
    const reply = await fetch('http://127.0.0.1:' + server.address().port + '/metrics');
    console.log(await reply.text());
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  for (const name of ['nodejs_gc_duration_seconds', 'process_cpu_seconds_total', 'quayside_http_requests_in_flight 0'])
    expect(stdout).toContain(name);
});
