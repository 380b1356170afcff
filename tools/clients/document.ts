import { openApiDocument } from '../../api/http/openapi/openapi.ts';
import { routes } from '../../api/routes.ts';

interface Media {
  schema?: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  'x-roles': readonly string[];
  parameters?: { in?: string; name?: string; $ref?: string }[];
  security: object[];
  responses: Record<string, { content?: Record<string, Media> }>;
}

export interface ClientDocument {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { enum?: string[] }>;
    parameters?: Record<string, { name: string }>;
    responses?: Record<string, { content?: Record<string, Media> }>;
  };
}

/** Codes of problems that the client makes itself, where there is no reply, or none of this service. */
const CLIENT_CODES = ['unreachable', 'redirected', 'timed_out', 'aborted', 'unexpected_reply', 'invalid_call'];

const PROBLEM_TYPE = 'application/problem+json';

/** What the generated client reads as bytes, whatever the schema says. */
const isBinary = (type: string): boolean => /^(application|audio|image|video)\//.test(type) && !type.endsWith('json');

/**
 * The service's own OpenAPI document, as the client is generated from it: errors are problems, with the client's own codes,
 * and what is no text is a `Blob`.
 */
export function clientDocument(): ClientDocument {
  const text = JSON.stringify(openApiDocument(routes, 'http://localhost', {}));
  const document = JSON.parse(text) as ClientDocument;
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const replies = [
    ...operations.flatMap(({ responses }) => Object.values(responses)),
    ...Object.values(document.components.responses ?? {}),
  ];
  for (const { content = {} } of replies) {
    const isError = PROBLEM_TYPE in content;
    for (const [type, media] of Object.entries(content)) {
      if (isError && type !== PROBLEM_TYPE) delete content[type];
      else if (isBinary(type)) media.schema = { type: 'string', format: 'binary' };
    }
  }
  document.components.schemas.ProblemCode?.enum?.push(...CLIENT_CODES);
  return document;
}

/** What the thin layer knows of operations: who may call them, and which POSTs take no key. */
export function operationsModule({ paths, components }: ClientDocument): string {
  const byRoles = new Map<string, string[]>();
  const unkeyed: string[] = [];
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const roles = operation['x-roles'].join(' ');
      byRoles.set(roles, [...(byRoles.get(roles) ?? []), operation.operationId]);
      if (method === 'post' && !takesKey(operation, components)) unkeyed.push(path);
    }
  const ids = [...byRoles.values()].flat().toSorted();
  const table = [...byRoles].map(([roles, names]) => [roles, names.join(' ')]);
  return [
    `export type OperationId =\n${ids.map((id) => `  | '${id}'`).join('\n')};\n`,
    `export type Role = 'owner' | 'member' | 'application';\n`,
    `/** Roles, and the operations that they may call. */`,
    `export const ROLES_OF: readonly (readonly [roles: string, operations: string])[] = ${JSON.stringify(table)};\n`,
    `/** Paths of the POSTs that take no key: they have no credential, or their replies have one. */`,
    `export const UNKEYED: readonly string[] = ${JSON.stringify(unkeyed)};\n`,
  ].join('\n');
}

const takesKey = ({ parameters = [] }: Operation, { parameters: shared = {} }: ClientDocument['components']): boolean =>
  parameters.some(({ name, $ref }) => (name ?? shared[$ref?.split('/').at(-1) ?? '']?.name) === 'Idempotency-Key');
