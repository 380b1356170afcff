import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, type Registry } from 'prom-client';

export interface MetricsServerOptions {
  host: string;
  port: number;
  /** Whether the process does its work. */
  isHealthy?: () => boolean;
}

/**
 * Serves `GET /metrics` in the Prometheus text format and `GET /healthz` (200, or 503 when the process is not healthy),
 * on a port of its own that no client of the API reaches. From then on the registry has the metrics of Node, too, which
 * are collected until the process ends.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port, isHealthy = () => true }: MetricsServerOptions,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/metrics') {
      void registry
        .metrics()
        .then((text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text));
    } else if (request.method === 'GET' && request.url === '/healthz') {
      const [status, text] = isHealthy() ? ([200, 'ok'] as const) : ([503, 'not working'] as const);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status: text }));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  collectDefaultMetrics({ register: registry });
  return server;
}
