import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { z } from 'zod';
import type { ErrorCode } from '../../domain/shared/errors.ts';
import type { AnyRoute } from './define-route.ts';
import { STATUS_OF } from './problems.ts';
import { FORM_TYPE } from './request-body.ts';

const ProblemSchema = z
  .looseObject({
    type: z.string().meta({ example: 'urn:quayside:problem:not_found' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().meta({ description: 'Path of the request' }),
    code: z.string(),
    requestId: z.string(),
    errors: z.array(z.object({ detail: z.string(), pointer: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details' });

const INTRODUCTION = `Quayside moves release candidates of CRM projects through environments: pipelines report
deployments, approvals and locks guard environments, webhooks announce every change, and an audit trail records it.

Errors are \`application/problem+json\` (RFC 9457); \`code\` identifies the error and \`errors\` lists invalid fields.
Path parameters that contain slashes (repository identifiers, branches, domains, collection names) must be
percent-encoded. Every reply has an \`X-Request-Id\`. Every POST accepts an \`Idempotency-Key\`.`;

/** The OpenAPI 3.1 document for a list of routes. */
export function openApiDocument(routes: readonly AnyRoute[], serverUrl: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method] = operation(route);
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Quayside', version: '1', description: INTRODUCTION },
      servers: [{ url: serverUrl }],
      paths,
      components: {
        securitySchemes: {
          'access-token': {
            type: 'http',
            scheme: 'bearer',
            description: 'A user access token (JWT) or an application token (`qs_app_…`)',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-qs_session',
            description:
              'The session cookie of a browser; without the prefix `__Host-` on loopback. Writes must come from a page of this service (`Sec-Fetch-Site` or `Origin`), otherwise they get 403.',
          },
        },
      },
    },
    { allowEmptySchema: { unknown: true, void: true } },
  );
}

function operation(route: AnyRoute): ZodOpenApiOperationObject {
  const isPublic = route.roles === 'public';
  const roles = isPublic ? '' : `Roles: ${(route.roles as readonly string[]).join(', ')}.`;
  return {
    operationId: route.operationId,
    tags: [route.group],
    summary: route.summary,
    ...(route.isDeprecated && { deprecated: true }),
    description: [route.description, roles].filter(Boolean).join('\n\n'),
    security: isPublic ? [] : [{ 'access-token': [] }, { session: [] }],
    requestParams: {
      ...(route.params && { path: route.params as z.ZodObject }),
      ...(route.query && { query: route.query as z.ZodObject }),
      ...(route.headers && { header: route.headers as z.ZodObject }),
    },
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { [route.bodyType === 'form' ? FORM_TYPE : 'application/json']: { schema: route.body } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        [route.status, ...(route.otherStatuses ?? [])].map((status) => [String(status), success(route, status)]),
      ),
      ...refusals(route, isPublic),
    },
  };
}

function success(route: AnyRoute, status: number) {
  if (status === 204) return { description: 'Success, without content' };
  if (status === 302) return { description: 'Redirect', headers: z.object({ Location: z.string() }) };
  const content = route.contentType
    ? { [route.contentType]: { schema: z.string() } }
    : { 'application/json': { schema: route.response } };
  return { description: 'Success', content };
}

function refusals(route: AnyRoute, isPublic: boolean) {
  const codes: ErrorCode[] = [
    ...(route.query || route.body ? (['invalid_request'] as const) : []),
    ...(isPublic ? [] : (['unauthenticated', 'forbidden'] as const)),
    ...(route.params || route.query || route.body ? (['not_found'] as const) : []),
    ...(route.body ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    'rate_limited',
    'unavailable',
    ...(route.errors ?? []),
  ];
  const byStatus = Map.groupBy(new Set(codes), (code) => String(STATUS_OF[code]));
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\``).join(', '),
        content: { 'application/problem+json': { schema: ProblemSchema } },
      },
    ]),
  );
}
