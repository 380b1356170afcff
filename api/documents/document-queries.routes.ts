import { decodeCursor, encodeCursor } from '../../domain/documents/cursor-rules.ts';
import { collectionByName } from '../../domain/documents/collections.queries.ts';
import { findDocuments, type FoundDocument } from '../../domain/documents/find-documents.ts';
import { parsePathPattern, type PathPattern } from '../../domain/kernel/text/path-pattern-rules.ts';
import type { Store } from '../../domain/kernel/settings/kept-version-rules.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { JsonText, link, reply } from '../http/replies.ts';
import type { Scope } from '../http/scope.ts';
import {
  CollectionQueryIn,
  type DocumentQueryIn,
  FoundDocuments,
  GROUP,
  inCollection,
  QueryIn,
  QueryQuery,
} from './documents.schemas.ts';

interface Request {
  query: { store: Store; cursor?: string | undefined; offset: number };
  body: DocumentQueryIn;
}

/** Since when the endpoint is deprecated (RFC 9745). */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 0, 1) / 1_000}`;

const SEMANTICS =
  'All filters must match. `eq` compares JSON values (1 equals 1.0); `ne` and `nin` also match documents without the field; `gt`, `gte`, `lt` and `lte` compare numbers with numbers and strings with strings by code point, and match nothing for other values; `regex` is an advanced regular expression of PostgreSQL of at most 256 characters, without names of collating elements; it is refused when its counts repeat too much, and stopped after 2 s. Of queries that take long two of a tenant run at a time and ten wait; beyond that the reply is 429 with `Retry-After`. The ascending sort order is null, booleans, numbers, strings, arrays, objects, missing; ties, and results without `sort`, are ordered by collection and key. A page may end early at 8 MB. The `Link` header leads to the next page; send the same body to it.';

async function pageOf(pattern: PathPattern, { query, body }: Request, { reads, requestUrl }: Scope) {
  const { filters, sort, limit, fields } = body;
  const cursor = query.cursor ?? body.cursor;
  const offset = query.offset >= 0 ? query.offset : body.offset;
  const after =
    cursor === undefined
      ? undefined
      : decodeCursor(sort, cursor, query.cursor === undefined ? '#/body/cursor' : '#/query/cursor');
  const question = { store: query.store, pattern, filters, sort, fields, after, limit, offset };
  const { documents, last } = await findDocuments(reads, question);
  const text = `[${documents.map(textOf).join(',')}]`;
  if (!last) return reply(new JsonText(text));
  const nextCursor = encodeCursor(sort, last);
  const next =
    nextCursor === undefined
      ? { ...(cursor !== undefined && { cursor }), offset: offset + documents.length }
      : { cursor: nextCursor, offset: 0 };
  return reply(new JsonText(text), { headers: { Link: link(requestUrl, next, 'next') } });
}

const textOf = ({ collection, key, version, value }: FoundDocument): string =>
  `{"collection":${JSON.stringify(collection)},"key":${JSON.stringify(key)},"version":${version},"value":${value}}`;

export const documentQueriesRoutes = [
  defineRoute({
    operationId: 'queryDocuments',
    method: 'post',
    path: '/api/doc-store/collections/query',
    group: GROUP,
    summary: 'Query documents across collections',
    description: `\`pathPattern\` is matched against collection names and also against \`collection/key\`. ${SEMANTICS}`,
    roles: ANY_ROLE,
    projectScope: 'collection',
    query: QueryQuery,
    body: QueryIn,
    takesExactNumbers: true,
    status: 200,
    response: FoundDocuments,
    audit: { none: 'reads' },
    handle: (request, scope) => pageOf(parsePathPattern(request.body.pathPattern), request, scope),
  }),
  defineRoute({
    operationId: 'queryCollection',
    method: 'post',
    path: '/api/doc-store/collections/{collectionName}/query',
    group: GROUP,
    summary: 'Query the documents of a collection',
    description: `Use \`/api/doc-store/collections/query\` instead. Ignores \`pathPattern\`. ${SEMANTICS}`,
    isDeprecated: true,
    roles: ANY_ROLE,
    projectScope: 'collection',
    params: inCollection,
    query: QueryQuery,
    body: CollectionQueryIn,
    takesExactNumbers: true,
    status: 200,
    response: FoundDocuments,
    audit: { none: 'reads' },
    async handle({ params: { collectionName: name }, ...request }, scope) {
      await collectionByName(scope.reads, name);
      const page = await pageOf({ whole: { kind: 'literal', name } }, request, scope);
      const { body: found, headers } = page.parts;
      const successor = `<${scope.publicUrl}/api/doc-store/collections/query>; rel="successor-version"`;
      return reply(found, {
        headers: {
          ...headers,
          Deprecation: DEPRECATED_SINCE,
          Link: headers?.Link ? `${headers.Link}, ${successor}` : successor,
        },
      });
    },
  }),
];
