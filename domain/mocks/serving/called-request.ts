import type { CalledRequest } from '../mocks.entities.ts';
import type { MockRequest } from './mock-request.ts';
import { isUnstorable, storable } from './storable-text-rules.ts';
import { isSecretHeader, isSecretName, LEFT_OUT, textWithStandIns, withStandIns } from '../recording/secret-fields.ts';

const BODY_MAX_BYTES = 8_192;
/** Longer values of headers and queries are cut. */
export const VALUE_MAX_CHARS = 1_000;
const leftOut = () => LEFT_OUT;

/** What the journal keeps of a request. */
export function calledRequest(request: MockRequest): CalledRequest {
  const { query, headers, bytes } = request;
  const kept: CalledRequest = {
    query: mapValues(query, isSecretName),
    headers: mapValues(headers, isSecretHeader) as Record<string, string>,
    bodyBytes: bytes.length,
  };
  // Asked for after that: a large body takes long to read.
  const body = bytes.length > BODY_MAX_BYTES ? undefined : request.body;
  if (body?.text === undefined) return kept;
  const value = body.map && withStandIns(body.map.value, leftOut);
  // A string would be taken for a text that is no JSON.
  const isJson = body.map !== undefined && typeof value !== 'string' && !isUnstorable(JSON.stringify(value));
  return { ...kept, body: isJson ? value : storable(textWithStandIns(body.text, leftOut)) };
}

const cut = (text: string): string => storable(text.slice(0, VALUE_MAX_CHARS));

const mapValues = (
  map: Record<string, string | string[]>,
  isSecret: (name: string) => boolean,
): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(map).map(([name, value]) => {
      if (isSecret(name)) return [cut(name), leftOut()];
      return [cut(name), typeof value === 'string' ? cut(value) : value.map(cut)];
    }),
  );
