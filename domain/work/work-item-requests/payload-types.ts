import { invalidField } from '../../kernel/shared/errors.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';

/** Types of flows that may be requested in a work item. */
export const PAYLOAD_TYPES: readonly string[] = [
  'request-elevated-privileges',
  'request-freeze-users',
  'request-unfreeze-users',
  'request-sandbox-create',
  'request-sandbox-refresh',
  'request-sandbox-activate',
  'request-sandbox-delete',
  'install-packages',
  'uninstall-packages',
  'install-artifacts',
  'install-changeset',
  'create-patch-branch',
  'run-apex-tests',
];

/** Throws `invalid_request` for a type that cannot be requested in a work item. */
export function assertRequestable(id: unknown): void {
  if (typeof id === 'string' && PAYLOAD_TYPES.includes(id)) return;
  const given = JSON.stringify(id) ?? 'nothing';
  const hint = didYouMean(String(id), PAYLOAD_TYPES);
  throw invalidField('payload/id', `${given} cannot be requested in a work item: ${PAYLOAD_TYPES.join(', ')}${hint}`);
}
