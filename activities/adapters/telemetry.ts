import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';

export interface Telemetry {
  /** Carries traces through Temporal: for clients, workers and the bundle of workflows. */
  plugins: OpenTelemetryPlugin[];
  shutdown: () => Promise<void>;
}

/**
 * Exports traces by OTLP over HTTP. Without an endpoint nothing is recorded, and a trace that a client began is only
 * handed on.
 */
export function startTelemetry(serviceName: string, endpoint: string | undefined): Telemetry {
  if (endpoint === undefined) return { plugins: [], shutdown: () => Promise.resolve() };
  const resource = new Resource({ 'service.name': serviceName });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const spanProcessor = new BatchSpanProcessor(exporter);
  const provider = new NodeTracerProvider({ resource, spanProcessors: [spanProcessor] });
  provider.register();
  return {
    plugins: [new OpenTelemetryPlugin({ resource, spanProcessor })],
    async shutdown() {
      await provider.shutdown().catch(() => undefined);
      trace.disable();
    },
  };
}
