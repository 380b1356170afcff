import { trace } from '@opentelemetry/api';
import type { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';

export interface Telemetry {
  /** Carries traces through Temporal: for clients and workers. */
  plugins: OpenTelemetryPlugin[];
  shutdown: () => Promise<void>;
}

/**
 * Exports traces by OTLP over HTTP. Without an endpoint nothing is recorded, and a trace that a client began is only
 * handed on; the exporter, which takes some ten megabytes, is then not loaded.
 */
export async function startTelemetry(serviceName: string, endpoint: string | undefined): Promise<Telemetry> {
  if (endpoint === undefined) return { plugins: [], shutdown: () => Promise.resolve() };
  const [otlp, resources, base, node, temporal] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/sdk-trace-node'),
    import('@temporalio/interceptors-opentelemetry'),
  ]);
  const resource = new resources.Resource({ 'service.name': serviceName });
  const exporter = new otlp.OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const spanProcessor = new base.BatchSpanProcessor(exporter);
  const provider = new node.NodeTracerProvider({ resource, spanProcessors: [spanProcessor] });
  provider.register();
  return {
    plugins: [new temporal.OpenTelemetryPlugin({ resource, spanProcessor })],
    async shutdown() {
      await provider.shutdown().catch(() => undefined);
      trace.disable();
    },
  };
}
