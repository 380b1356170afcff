import { VALUE_MAX_CHARS } from './serving/called-request.ts';
import type { CallRow } from './verification/calls.queries.ts';
import { NOT_KEPT } from './serving/judged-text.ts';
import { type MockBody, type MockRequest, mockRequest } from './serving/mock-request.ts';
import type { CalledRequest } from './mocks.entities.ts';
import { LEFT_OUT } from './recording/secret-fields.ts';

/**
 * A noted call as steps are matched with it. What the journal has not kept of the request, see `calledRequest`, is
 * `NOT_KEPT`: credentials, the rest of long values, bodies that are long or no text, and how JSON and forms were written.
 */
export function keptRequest({ method, path, request }: Pick<CallRow, 'method' | 'path' | 'request'>): MockRequest {
  const { query, headers } = request;
  return {
    method,
    path,
    target: path,
    query: kept(query) as MockRequest['query'],
    headers: kept(headers) as MockRequest['headers'],
    bytes: Buffer.alloc(0),
    body: keptBody(request),
  };
}

const isWhole = (value: string): boolean => value !== LEFT_OUT && value.length < VALUE_MAX_CHARS;

const kept = (values: Record<string, string | string[]>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, [value].flat().every(isWhole) ? value : NOT_KEPT]),
  );

function keptBody({ body, bodyBytes, headers }: CalledRequest): MockBody {
  if (bodyBytes === 0) return { text: undefined, map: undefined };
  if (body === undefined) return { text: undefined, map: undefined, isTextKept: false };
  if (typeof body !== 'string') return { text: undefined, map: { value: withoutStandIns(body) }, isTextKept: false };
  if (body.includes(LEFT_OUT)) return { text: undefined, map: undefined, isTextKept: false };
  return mockRequest('POST', '/', { 'content-type': headers['content-type'] ?? '' }, Buffer.from(body)).body;
}

function withoutStandIns(value: unknown): unknown {
  if (value === LEFT_OUT) return NOT_KEPT;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutStandIns);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutStandIns(member)]));
}
