import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { compileTemplate, TemplateError } from './body-template.ts';
import { type Envelope, sampleEnvelope } from './event-catalog.ts';
import { compileFilter, FilterError, type WebhookFilter } from './filter-rules.ts';
import { compileLinearRegex } from './linear-regex.ts';
import { PatternShareError, PatternShares, PatternWorkError } from './pattern-work.ts';

export interface WebhookDraft {
  event: string;
  filter: WebhookFilter;
  /** Null: the standard envelope. */
  bodyTemplate: string | null;
  /** Instead of the sample of the catalog. */
  data?: Record<string, unknown> | undefined;
}

export interface WebhookPreview {
  /** The event as filter and template see it. */
  envelope: Envelope;
  /** Whether the event passes the filter; null where that could not be found out: `error` says why. */
  isSent: boolean | null;
  /** What would be sent, also where the filter refuses it; null where `error` says why there is none. */
  body: string | null;
  error: string | null;
}

/** The most work of a filter and a template for one event: some 50 ms of a core. */
const WORK_MAX = 2_500_000;
const shares = new PatternShares();

/**
 * What a webhook would send for an event. Throws `invalid_request` for a filter or template that cannot be used, and
 * `rate_limited` where the patterns of the tenant have taken their share of this process.
 */
export function previewWebhook(tenantId: string, { event, filter, bodyTemplate, data }: WebhookDraft): WebhookPreview {
  const sample = sampleEnvelope(event);
  const envelope = data ? { ...sample, data } : sample;
  try {
    return shares.evaluate(tenantId, WORK_MAX, () => {
      const isSent = compileFilter(filter, compileLinearRegex)(envelope);
      const renderBody = bodyTemplate === null ? JSON.stringify : compileTemplate(bodyTemplate);
      try {
        return { envelope, isSent, body: renderBody(envelope), error: null };
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        return { envelope, isSent, body: null, error: error.message };
      }
    });
  } catch (error) {
    return refusalOf(error, envelope);
  }
}

function refusalOf(error: unknown, envelope: Envelope): WebhookPreview {
  if (error instanceof FilterError) throw invalidField('config/filter', `${error.path}: ${error.message}`);
  if (error instanceof TemplateError) throw invalidField('config/body', error.message);
  if (error instanceof PatternShareError)
    throw new DomainError('rate_limited', error.message, {
      headers: { 'Retry-After': String(Math.ceil(error.retryInMs / 1_000)) },
    });
  if (error instanceof PatternWorkError) return { envelope, isSent: null, body: null, error: error.message };
  throw error;
}
