import { TemplateError } from '../../domain/webhooks/body-template.ts';
import { nextStep, parseRetryAfter } from '../../domain/webhooks/delivery-rules.ts';
import { envelopeText } from '../../domain/webhooks/envelope-rules.ts';
import { redactedHeaders } from '../../domain/webhooks/header-rules.ts';
import type { ClaimedDelivery } from '../../domain/webhooks/lane-store.queries.ts';
import type { LoggedTry, Outcome } from '../../domain/webhooks/outcomes.queries.ts';
import { signedHeaders } from '../../domain/webhooks/standard-webhooks.ts';
import type { WebhookSender } from '../../domain/webhooks/webhook-sender.port.ts';
import { startTrySpan } from './delivery-span.ts';
import type { LaneTarget } from './lane-target.ts';

/**
 * Makes one try of a delivery: filter, body, signature, request. Answers what is to be recorded, or `cut off` when
 * `stop` ended the request, of which then nothing is known.
 */
export async function tryDelivery(
  delivery: ClaimedDelivery,
  target: LaneTarget,
  send: WebhookSender,
  stop: AbortSignal,
): Promise<Outcome | 'cut off'> {
  const text = envelopeText(delivery);
  const needsValue = target.isWanted !== undefined || target.renderBody !== undefined;
  const envelope: unknown = needsValue ? JSON.parse(text) : undefined;
  if (target.isWanted && !target.isWanted(envelope)) return { delivery, next: { status: 'filtered' } };

  const startedAt = new Date();
  const log = { url: target.url, method: target.method, startedAt };
  const body = target.renderBody ? render(target.renderBody, envelope) : text;
  if (body instanceof TemplateError) {
    return recorded(delivery, target, {
      ...log,
      errorKind: 'template',
      error: body.message,
      sentBody: null,
      durationMs: 0,
    });
  }
  const span = startTrySpan(delivery);
  const headers = {
    ...target.headers,
    ...signedHeaders(delivery.id, body, target.keysAt(startedAt), startedAt),
    ...span.headers,
  };
  try {
    const outcome = await send(
      { url: target.url, method: target.method, headers, body, timeoutMs: target.timeoutMs },
      stop,
    );
    span.end(outcome);
    return recorded(delivery, target, {
      ...log,
      ...outcome,
      ...(outcome.responseHeaders && { responseHeaders: redactedHeaders(outcome.responseHeaders) }),
      sentBody: outcome.errorKind === 'refused' ? null : target.renderBody ? body : true,
    });
  } catch (error) {
    span.end(undefined);
    if (stop.aborted) return 'cut off';
    throw error;
  }
}

function recorded(delivery: ClaimedDelivery, target: LaneTarget, tried: LoggedTry): Outcome {
  const retryAfterMs = parseRetryAfter(tried.retryAfter, Date.now());
  return { delivery, tried, next: nextStep({ ...tried, retryAfterMs }, delivery.attempts + 1, target, Math.random()) };
}

function render(renderBody: (envelope: unknown) => string, envelope: unknown): string | TemplateError {
  try {
    return renderBody(envelope);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}
