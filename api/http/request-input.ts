import type { RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { z } from 'zod';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import { PARSING } from '../../domain/kernel/shared/input-errors.ts';
import type { AnyRoute, ParsedInput } from './define-route.ts';
import { schemaViolation } from './problems.ts';
import type { Bodies } from './server/read-bytes.ts';
import { readStreamedBody } from './server/streamed-body.ts';
import {
  assertNoBody,
  assertStorable,
  type ParsedBody,
  readBytesBody,
  readFormBody,
  readJsonBody,
} from './server/request-body.ts';
import { unknownParameters } from './query-parameters.ts';

/** What a request has besides its body, parsed by the schemas of the route. Throws `not_found` and `invalid_request`. */
export const headOf = (route: AnyRoute, ctx: RouterContext): Omit<ParsedInput, 'body'> => ({
  params: parseParams(route, ctx.params),
  query: parseQuery(route, ctx.query),
  headers: parseHeaders(route, ctx.headers),
});

const READERS = { json: readJsonBody, form: readFormBody, bytes: readBytesBody };

/** Reads the body and parses it by the schema of the route. */
export async function withBody(
  route: AnyRoute,
  head: Omit<ParsedInput, 'body'>,
  ctx: RouterContext,
  bodies: Bodies,
): Promise<{ input: ParsedInput; body: ParsedBody | undefined }> {
  if (route.body === undefined) {
    await assertNoBody(ctx, bodies.readBytes);
    return { input: { ...head, body: undefined }, body: undefined };
  }
  const { bodyType = 'json' } = route;
  const body =
    bodyType === 'stream'
      ? await readStreamedBody(route, ctx, bodies)
      : await READERS[bodyType](route, ctx, bodies.readBytes);
  return { input: { ...head, body: parseBody(route.body, body?.value) }, body };
}

/** What a body, or what was read of one, is by a schema. Throws `invalid_request`. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, PARSING);
  if (!parsed.success) throw schemaViolation('body', parsed.error.issues);
  return parsed.data;
}

/** An invalid path parameter identifies no resource, so it is `not_found`. */
function parseParams({ params }: AnyRoute, given: Record<string, string>): unknown {
  const isStorable = Object.values(given).every((value) => !value.includes('\0') && value.isWellFormed());
  const parsed = params?.safeParse(given);
  if (!isStorable || (parsed && !parsed.success)) throw new DomainError('not_found', 'No resource at this path');
  return parsed?.data;
}

function parseQuery(route: AnyRoute, given: Context['query']): unknown {
  assertStorable({ ...given }, '#/query');
  // Before the other, since strict schemas suggest names for what they do not know.
  const parsed = route.query?.safeParse(given, PARSING);
  if (parsed && !parsed.success) throw schemaViolation('query', parsed.error.issues);
  const unknown = unknownParameters(route, Object.keys(given));
  if (unknown) throw schemaViolation('query', [unknown]);
  return parsed?.data;
}

function parseHeaders({ headers }: AnyRoute, given: Context['headers']): unknown {
  const parsed = headers?.safeParse(given, PARSING);
  if (parsed && !parsed.success) throw schemaViolation('headers', parsed.error.issues);
  return parsed?.data;
}
