import { propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ClaimedDelivery } from '../../domain/webhooks/lane-store.queries.ts';
import type { LoggedTry } from '../../domain/webhooks/outcomes.queries.ts';

const tracer = trace.getTracer('quayside-worker');

/** The span of one try, and the trace context that goes along with its request. */
export interface TrySpan {
  headers: { traceparent?: string };
  end: (tried: Pick<LoggedTry, 'statusCode' | 'errorKind'> | undefined) => void;
}

/**
 * Continues the trace of what caused a delivery. Where nothing is traced, the context of the cause is only handed on.
 */
export function startTrySpan({ id, event, attempts, traceparent }: ClaimedDelivery): TrySpan {
  const parent = traceparent === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
  const attributes = { 'webhook.delivery.id': id, 'webhook.event': event, 'webhook.attempt': attempts + 1 };
  const span = tracer.startSpan('webhook delivery', { kind: SpanKind.CLIENT, attributes }, parent);
  const carrier: { traceparent?: string } = traceparent === null ? {} : { traceparent };
  propagation.inject(trace.setSpan(parent, span), carrier);
  return { headers: carrier, end: (tried) => endSpan(span, tried) };
}

function endSpan(span: Span, tried: Pick<LoggedTry, 'statusCode' | 'errorKind'> | undefined): void {
  if (tried?.statusCode !== undefined) span.setAttribute('http.response.status_code', tried.statusCode);
  if (tried?.errorKind !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: tried.errorKind });
  span.end();
}
