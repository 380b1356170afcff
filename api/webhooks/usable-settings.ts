import { invalidField } from '../../domain/shared/errors.ts';
import { compileTemplate, TemplateError } from '../../domain/webhooks/body-template.ts';
import { compileFilter, FilterError } from '../../domain/webhooks/filter-rules.ts';
import { compileLinearRegex } from '../../domain/webhooks/linear-regex.ts';
import type { OutboundAddresses } from '../../domain/webhooks/outbound-addresses.ts';
import type { WebhookSettings } from '../../domain/webhooks/webhooks.queries.ts';

/**
 * Refuses what could never be delivered: an address that the policy forbids, a malformed filter or template. Throws
 * `invalid_request` with a pointer.
 */
export function assertUsable(
  { url, filter, bodyTemplate }: WebhookSettings,
  outbound: OutboundAddresses,
  urlPointer: string,
): void {
  const refusal = outbound.refusedUrl(url);
  if (refusal !== undefined) throw invalidField(urlPointer, refusal);
  try {
    compileFilter(filter, compileLinearRegex);
    if (bodyTemplate !== null) compileTemplate(bodyTemplate);
  } catch (error) {
    if (error instanceof FilterError) throw invalidField(`config/filter${pointerOf(error.path)}`, error.message);
    if (error instanceof TemplateError) throw invalidField('config/body', error.message);
    throw error;
  }
}

/** RFC 6901. */
const pointerOf = (key: string): string => (key === '' ? '' : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
