import { propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ClaimedDelivery } from '../../../domain/events/webhooks/lane-store.queries.ts';
import type { LoggedAttempt } from '../../../domain/events/webhooks/outcomes.queries.ts';

const tracer = trace.getTracer('quayside-worker');

/** The span of one attempt, and the trace context that its request carries. */
export interface AttemptSpan {
  headers: { traceparent?: string };
  end: (outcome: Pick<LoggedAttempt, 'statusCode' | 'errorKind'> | undefined) => void;
}

/**
 * Continues the trace of what caused a delivery. Where nothing is traced, the context of the cause is only passed on.
 */
export function startAttemptSpan({ id, event, attempts, traceparent }: ClaimedDelivery): AttemptSpan {
  const parent = traceparent === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
  const attributes = { 'webhook.delivery.id': id, 'webhook.event': event, 'webhook.attempt': attempts + 1 };
  const span = tracer.startSpan('webhook delivery', { kind: SpanKind.CLIENT, attributes }, parent);
  const carrier: { traceparent?: string } = traceparent === null ? {} : { traceparent };
  propagation.inject(trace.setSpan(parent, span), carrier);
  return { headers: carrier, end: (outcome) => endSpan(span, outcome) };
}

function endSpan(span: Span, outcome: Pick<LoggedAttempt, 'statusCode' | 'errorKind'> | undefined): void {
  if (outcome?.statusCode !== undefined) span.setAttribute('http.response.status_code', outcome.statusCode);
  if (outcome?.errorKind !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.errorKind });
  span.end();
}
