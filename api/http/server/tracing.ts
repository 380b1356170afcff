import type { IncomingHttpHeaders } from 'node:http';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('quayside-api');

/** Runs a request in a span, which continues the trace of the client if it sent a `traceparent`. */
export function inRequestSpan<T>(headers: IncomingHttpHeaders, name: string, run: () => Promise<T>): Promise<T> {
  const parent = propagation.extract(context.active(), headers);
  return tracer.startActiveSpan(name, { kind: SpanKind.SERVER }, parent, async (span) => {
    try {
      return await run();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
