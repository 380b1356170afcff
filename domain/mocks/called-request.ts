import type { CalledRequest } from './mocks.entities.ts';
import type { MockRequest } from './mock-request.ts';
import { isUnstorable, storable } from './replay.ts';

const BODY_MAX_BYTES = 8_192;
const VALUE_MAX_CHARS = 1_000;
/** Credentials of the client under test, which nobody needs to see. */
const LEFT_OUT = /^(authorization|proxy-authorization|cookie|x-api-key|x-auth-token|private-token|x-csrf-token)$/;

/** What the journal keeps of a request. */
export function calledRequest({ query, headers, body, bytes }: MockRequest): CalledRequest {
  const kept: CalledRequest = {
    query: mapValues(query),
    headers: mapValues(headers) as Record<string, string>,
    bodyBytes: bytes.length,
  };
  for (const name of Object.keys(kept.headers)) if (LEFT_OUT.test(name)) kept.headers[name] = '[left out]';
  if (bytes.length > BODY_MAX_BYTES || body.text === undefined) return kept;
  const isJson = body.map !== undefined && !isUnstorable(JSON.stringify(body.map.value));
  return { ...kept, body: isJson ? body.map?.value : storable(body.text) };
}

const cut = (text: string): string => storable(text.slice(0, VALUE_MAX_CHARS));

const mapValues = (map: Record<string, string | string[]>): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(map).map(([name, value]) => [cut(name), typeof value === 'string' ? cut(value) : value.map(cut)]),
  );
