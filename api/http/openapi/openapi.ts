import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ErrorCode } from '../../../domain/kernel/shared/errors.ts';
import { TENANT_HEADER } from '../../../domain/identity/auth/authenticator.ts';
import { type AnyRoute, type ProjectScope, takesIdempotencyKey } from '../define-route.ts';
import { IDEMPOTENCY_KEY_MAX } from '../idempotency.ts';
import { addExamples, type ReferenceExamples } from './openapi-examples.ts';
import { STATUS_OF } from '../problems.ts';
import { BYTES_TYPE, FORM_TYPE } from '../server/request-body.ts';
import { Problem, type ProblemExample } from './problem-schema.ts';
import { type Tag, TAGS } from './tags.ts';

/** Grows when a client of the version before would not work any more. */
export const API_VERSION = '1';

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';

const IdempotencyKey = z
  .string()
  .min(1)
  .max(IDEMPOTENCY_KEY_MAX)
  .optional()
  .meta({
    description:
      'Makes retries safe: a repeated request gets the stored reply of the first one for 24 hours, 409 `in_progress` while that is being handled, and 409 `already_exists` where it was executed but its reply was lost with the process. Refusals that come from a state (401, 403, 404, 409, 412, 429) and failures of the service (5xx) are not stored: the same request is handled again',
    param: { id: 'IdempotencyKey' },
  });

const TenantHeader = z
  .string()
  .optional()
  .meta({
    description:
      'Slug of the tenant in which a token of the OpenID provider acts; needed by members of several tenants. Other credentials act in one tenant, and get 403 if it names another',
    param: { id: 'Tenant' },
  });

const INTRODUCTION = `Quayside moves release candidates of CRM projects through environments: pipelines report
deployments, approvals and locks guard environments, webhooks announce every change, and an audit trail records it.

Errors are \`${PROBLEM_TYPE}\` (RFC 9457); \`code\` identifies the error and \`errors\` lists invalid fields.
Path parameters that contain slashes (repository identifiers, branches, domains, collection names) must be
percent-encoded. Replies about one project, environment, candidate, webhook, run or schedule have \`warnings\`: what is valid, but
probably not meant. Every reply has an \`X-Request-Id\`. A query parameter that an operation does not
list is refused with 400 (\`#/query/<name>\`), and so is a body where it has none, but for \`{}\`; addresses that other systems
and their clients call (hooks, the return from the OpenID provider, Prometheus' HTTP API, chat commands) ignore what they do not know. Every POST with a credential accepts an \`Idempotency-Key\`.

Application tokens that are limited to projects only reach what belongs to these projects. Every operation says who may
call it: \`x-roles\` (\`public\`: nobody needs a credential), and what such tokens reach of it: \`x-project-scope\` (\`row\`:
rows of their projects; \`collection\`: documents in their collections; \`refused\`: nothing; \`none\`: it shows nothing of the
tenant, or only the caller).`;

/** What the reference says of application tokens that are limited to projects. */
const LIMIT_NOTES: Partial<Record<ProjectScope, string>> = {
  collection:
    'Application tokens that are limited to projects only reach the collections `repo:<identifier>`, `repo:<identifier>/…` and `manifests/<identifier>:<branch>` of these projects, and those that match their `configuration.documentCollections`.',
  refused: 'Application tokens that are limited to projects get 403.',
};

/** The OpenAPI 3.1 document for a list of routes, with examples by operation id. */
export function openApiDocument(routes: readonly AnyRoute[], serverUrl: string, examples: ReferenceExamples) {
  const problems = new ProblemResponses();
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method] = operation(route, problems);
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Quayside',
        version: API_VERSION,
        description: INTRODUCTION,
        contact: { name: 'The operators of this service', url: serverUrl },
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: serverUrl }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        securitySchemes: {
          'access-token': BEARER,
          bearer: {
            ...BEARER,
            description: 'As `access-token`; the published interface gives this group a name of its own',
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
    {
      allowEmptySchema: { unknown: true, void: true },
      override: ({ jsonSchema }) => {
        omitSafeIntegerLimits(jsonSchema);
        omitOwnFormats(jsonSchema);
      },
    },
  );
  return addExamples(document, examples);
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'A user access token (JWT) or an application token (`qs_app_…`)',
} as const;

/** The published interface names the scheme of one group differently. */
const schemeOf = (group: Tag): string => (group === 'Chat workspace' ? 'bearer' : 'access-token');

/** Zod limits every integer to what JavaScript represents exactly, which is noise in a reference. */
function omitSafeIntegerLimits(schema: { minimum?: unknown; maximum?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Checks that Zod also calls formats, which no JSON Schema knows; their patterns and encodings say the same. */
const OWN_FORMATS: ReadonlySet<unknown> = new Set(['base64', 'includes', 'starts_with', 'ends_with']);

function omitOwnFormats(schema: { format?: unknown }): void {
  if (OWN_FORMATS.has(schema.format)) delete schema.format;
}

function operation(route: AnyRoute, problems: ProblemResponses): ZodOpenApiOperationObject {
  const isPublic = route.roles === 'public';
  const roles = isPublic ? '' : `Roles: ${(route.roles as readonly string[]).join(', ')}.`;
  const limit = route.roles.includes('application') ? LIMIT_NOTES[route.projectScope] : undefined;
  const failure = route.showsFailure ? 'Problems also have `success: false` and the detail as `error`.' : '';
  const headers = {
    ...(route.headers as z.ZodObject | undefined)?.shape,
    ...(!isPublic && { [TENANT_HEADER]: TenantHeader }),
    ...(takesIdempotencyKey(route) && { 'Idempotency-Key': IdempotencyKey }),
  };
  return {
    operationId: route.operationId,
    tags: [route.group],
    summary: route.summary,
    ...(route.isDeprecated && { deprecated: true }),
    description: [route.description, failure, limit, roles].filter(Boolean).join('\n\n'),
    'x-roles': isPublic ? ['public'] : route.roles,
    'x-project-scope': route.projectScope,
    security: isPublic ? [] : [{ [schemeOf(route.group)]: [] }, { session: [] }],
    requestParams: {
      ...(route.params && { path: route.params as z.ZodObject }),
      ...(route.query && { query: route.query as z.ZodObject }),
      ...(Object.keys(headers).length > 0 && { header: z.object(headers) }),
    },
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: { [mediaTypeOf(route)]: { schema: route.body } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        [route.status, ...(route.otherStatuses ?? [])].map((status) => [String(status), success(route, status)]),
      ),
      ...problems.of(route),
    },
  };
}

const mediaTypeOf = ({ bodyType }: AnyRoute): string =>
  bodyType === 'form' ? FORM_TYPE : bodyType === 'bytes' ? BYTES_TYPE : JSON_TYPE;

function success(route: AnyRoute, status: number): ZodOpenApiResponseObject {
  if (status === 204) return { description: 'Success, without content' };
  if (status === 302) return { description: 'Redirect', headers: z.object({ Location: z.string() }) };
  const { contentTypes = [JSON_TYPE] } = route;
  return {
    description: 'Success',
    content: Object.fromEntries(
      contentTypes.map((type) => [type, { schema: type.endsWith('json') ? route.response : z.string() }]),
    ),
  };
}

const problemExample = (status: number, [code]: readonly ErrorCode[]): ProblemExample => ({
  type: `urn:quayside:problem:${code}`,
  title: STATUS_CODES[status] ?? '',
  status,
  detail: 'A sentence for people',
  instance: '/api/projects',
  code: code ?? 'internal',
  requestId: '0198c5a0-7b3e-7000-8000-000000000001',
  ...(code === 'invalid_request' && { errors: [{ detail: 'is required', pointer: '#/body/identifier' }] }),
});

/** Error responses of operations; those with the same codes are one component. */
class ProblemResponses {
  readonly #shared = new Map<string, ZodOpenApiResponseObject>();

  of(route: AnyRoute): Record<string, ZodOpenApiResponseObject> {
    const isPage = route.contentTypes?.includes('text/html') === true && !route.contentTypes.includes(JSON_TYPE);
    const byStatus = Map.groupBy(new Set(codesOf(route)), (code) => String(STATUS_OF[code]));
    const { ownErrors } = route;
    return Object.fromEntries(
      [...byStatus].map(([status, codes]) => {
        const own = ownErrors?.statuses.includes(Number(status)) ? ownErrors.body : undefined;
        return [status, this.#response(status, codes, { isPage, own })];
      }),
    );
  }

  #response(
    status: string,
    codes: readonly ErrorCode[],
    { isPage, own }: { isPage: boolean; own: z.ZodType | undefined },
  ): ZodOpenApiResponseObject {
    const id = [...codes.toSorted(), ...(isPage ? ['page'] : []), ...(own ? [own.meta()?.id] : [])].join('-or-');
    const known = this.#shared.get(id);
    if (known) return known;
    const response = {
      id,
      description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
      content: {
        [PROBLEM_TYPE]: { schema: Problem, example: problemExample(Number(status), codes) },
        ...(own && { [JSON_TYPE]: { schema: own } }),
        ...(isPage && { 'text/html': { schema: z.string() } }),
      },
    };
    this.#shared.set(id, response);
    return response;
  }
}

const codesOf = (route: AnyRoute): ErrorCode[] => [
  ...(route.query || route.body || route.headers || takesIdempotencyKey(route) ? (['invalid_request'] as const) : []),
  ...(route.roles === 'public' ? [] : (['unauthenticated', 'forbidden', 'ambiguous'] as const)),
  ...(route.params || route.query || route.body ? (['not_found'] as const) : []),
  ...(takesIdempotencyKey(route) ? (['in_progress', 'unprocessable'] as const) : []),
  ...(route.body ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
  'rate_limited',
  'headers_too_large',
  'unavailable',
  ...(route.errors ?? []),
];
