import { Gauge, Histogram, Registry } from 'prom-client';

export interface HttpMetrics {
  registry: Registry;
  duration: Histogram<'method' | 'route' | 'status'>;
  inFlight: Gauge;
}

/** Metrics of an API. Those of Node belong to the process: `serveMetrics` adds them. */
export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry();
  return {
    registry,
    duration: new Histogram({
      name: 'quayside_http_request_duration_seconds',
      help: 'Duration of requests until the end of the handler, by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    inFlight: new Gauge({
      name: 'quayside_http_requests_in_flight',
      help: 'Requests in flight',
      registers: [registry],
    }),
  };
}
