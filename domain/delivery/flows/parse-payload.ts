import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { fieldErrors, PARSING } from '../../kernel/shared/input-errors.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';
import type { RunPayload } from './flow-payloads.ts';
import { FLOW_TYPES, type FlowType, flowType } from './flow-types.ts';

/** Throws `invalid_request` where a project names a type that there is not. */
export function assertExecutors(executors: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(executors).find((id) => !flowType(id));
  if (unknown === undefined) return;
  const detail = `${unknown} is not a flow type${didYouMean(
    unknown,
    FLOW_TYPES.map(({ id }) => id),
  )}`;
  throw invalidField(`configuration/executors/${unknown}`, detail);
}

/**
 * The type that a payload names, and the payload as parsed by its schema. Throws `invalid_request`: with a list of all
 * types for an unknown one, with each faulty field for a payload that does not match the type's schema.
 * @param prefix of the payload's fields in the request: `payload/`.
 * @param options `isPart`: it may be a part of another run, too, which nobody starts by itself.
 */
export function parsePayload(
  given: Record<string, unknown>,
  prefix: string,
  { isPart = false }: { isPart?: boolean | undefined } = {},
): { type: FlowType; payload: RunPayload } {
  const found = typeof given.id === 'string' ? flowType(given.id) : undefined;
  if (!found || (found.isInternal && !isPart)) {
    const known = FLOW_TYPES.filter(({ isInternal }) => !isInternal).map(({ id }) => id);
    const detail = `${JSON.stringify(given.id) ?? 'nothing'} is not a flow type: ${known.join(', ')}${didYouMean(String(given.id), known)}`;
    throw invalidField(`${prefix}id`, detail);
  }
  const parsed = found.payload.safeParse(given, PARSING);
  if (parsed.success) return { type: found, payload: parsed.data as RunPayload };
  const fields = [...fieldErrors(prefix.slice(0, -1), parsed.error.issues)];
  throw new DomainError('invalid_request', `The payload is not one of ${found.id}`, { fields });
}
