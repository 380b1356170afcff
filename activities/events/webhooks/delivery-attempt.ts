import { TemplateError } from '../../../domain/events/webhooks/body-template.ts';
import { errorOfStatus, nextStep } from '../../../domain/events/webhooks/delivery-rules.ts';
import { parseRetryAfter } from '../../../domain/kernel/outbound/retry-after-rules.ts';
import { envelopeText } from '../../../domain/events/webhooks/envelope-rules.ts';
import { PatternShareError, PatternWorkError } from '../../../domain/events/webhooks/pattern-work.ts';
import { redactedHeaders } from '../../../domain/events/webhooks/header-rules.ts';
import type { ClaimedDelivery } from '../../../domain/events/webhooks/lane-store.queries.ts';
import type { LoggedAttempt, Outcome } from '../../../domain/events/webhooks/outcomes.queries.ts';
import { signedHeaders } from '../../../domain/events/webhooks/standard-webhooks.ts';
import type { AttemptOutcome, WebhookSender } from '../../../domain/events/webhooks/webhook-sender.port.ts';
import { startAttemptSpan } from './delivery-span.ts';
import type { LaneTarget } from './lane-target.ts';

/**
 * Makes one attempt of a delivery: filter, body, signature, request. Answers what is to be recorded, or `cut off` when
 * `stop` ended the request, so that its outcome is unknown.
 */
export async function attemptDelivery(
  delivery: ClaimedDelivery,
  target: LaneTarget,
  send: WebhookSender,
  stop: AbortSignal,
): Promise<Outcome | 'cut off'> {
  const text = envelopeText(delivery);
  const needsValue = target.isWanted !== undefined || target.renderBody !== undefined;
  const envelope: unknown = needsValue ? JSON.parse(text) : undefined;
  const startedAt = new Date();
  const { url, method, timeoutMs } = target;
  const unsent = (errorKind: 'template' | 'refused', error: string): Outcome =>
    recorded(delivery, target, { url, method, startedAt, errorKind, error, sentBody: null, durationMs: 0 });
  try {
    if (target.isWanted && !target.isWanted(envelope)) return { delivery, next: { status: 'filtered' } };
  } catch (error) {
    if (error instanceof PatternShareError) return postponed(delivery, error.retryInMs);
    if (!(error instanceof PatternWorkError)) throw error;
    return unsent('template', `filter: ${error.message}`);
  }
  if (target.refusal !== undefined) return unsent('refused', target.refusal);
  const waitMs = target.pace?.waitMs(delivery) ?? 0;
  if (waitMs > 0) return postponed(delivery, waitMs);
  const body = target.renderBody ? await render(target.renderBody, envelope) : text;
  if (body instanceof TemplateError) return unsent('template', body.message);
  const span = startAttemptSpan(delivery);
  const signature = signedHeaders(delivery.id, body, target.keysAt(startedAt), startedAt);
  const headers = { ...target.headers, ...signature, ...span.headers };
  try {
    const answered = await send({ url, method, headers, body, timeoutMs }, stop);
    const outcome = target.judge ? await target.judge(answered, delivery) : answered;
    span.end(outcome);
    const isLimited = outcome.statusCode === 429 || outcome.verdict === 'limited';
    const pauseMs = isLimited ? pauseAfter(delivery, target, outcome) : undefined;
    if (pauseMs !== undefined) return postponed(delivery, pauseMs);
    return recorded(delivery, target, {
      ...outcome,
      url,
      method,
      startedAt,
      ...(outcome.responseHeaders && { responseHeaders: redactedHeaders(outcome.responseHeaders) }),
      sentBody: outcome.errorKind === 'refused' ? null : target.renderBody ? body : true,
    });
  } catch (error) {
    span.end(undefined);
    if (stop.aborted) return 'cut off';
    throw error;
  }
}

const postponed = (delivery: ClaimedDelivery, retryInMs: number): Outcome => ({
  delivery,
  next: { status: 'pending', retryInMs: Math.ceil(retryInMs) },
});

const pauseAfter = (
  delivery: ClaimedDelivery,
  { pace }: LaneTarget,
  { retryAfter }: AttemptOutcome,
): number | undefined => pace?.refused(delivery, parseRetryAfter(retryAfter, Date.now()) ?? 0);

function recorded(delivery: ClaimedDelivery, target: LaneTarget, attempt: LoggedAttempt): Outcome {
  const retryAfterMs = parseRetryAfter(attempt.retryAfter, Date.now());
  const next = nextStep({ ...attempt, retryAfterMs }, delivery.attempts + 1, target, Math.random());
  const { statusCode } = attempt;
  const isRefused = statusCode !== undefined && attempt.verdict === undefined && next.status !== 'delivered';
  return { delivery, attempt: isRefused ? { ...attempt, error: errorOfStatus(statusCode) } : attempt, next };
}

async function render(
  renderBody: NonNullable<LaneTarget['renderBody']>,
  envelope: unknown,
): Promise<string | TemplateError> {
  try {
    return await renderBody(envelope);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}
