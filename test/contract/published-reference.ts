import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { AnyRoute } from '../../api/http/define-route.ts';
import type { Answer, ApiClient, Json } from '../support/client.ts';

/** The OpenAPI document as clients get it. */
export interface PublishedReference {
  document: Json;
  /** What of a reply the document does not say: its status, its media type, its body. */
  violations: (route: AnyRoute, reply: Pick<Answer, 'status' | 'headers' | 'text' | 'body'>) => string[];
  /** Why an example in the document does not match its own schema. */
  wrongExamples: (route: AnyRoute) => string[];
}

interface Located {
  value: Json;
  pointer: string;
}

const pointerTo = (...segments: (string | number)[]): string =>
  segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export async function publishedReference(client: ApiClient): Promise<PublishedReference> {
  const document = await client.get(200, '/openapi.json');
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi.json');
  const compiled = new Map<string, ValidateFunction>();
  const schemaErrors = (pointer: string, value: unknown): string[] => {
    const known = compiled.get(pointer);
    const validate = known ?? ajv.compile({ $ref: `openapi.json#${encodeURI(pointer)}` });
    if (!known) compiled.set(pointer, validate);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };

  const resolve = (value: Json, pointer: string): Located => {
    if (value?.$ref === undefined) return { value, pointer };
    const [, ...segments] = String(value.$ref).split('/');
    return { value: segments.reduce((parent, name) => parent[name], document), pointer: pointerTo(...segments) };
  };
  const operationOf = ({ path, method }: AnyRoute): Located => ({
    value: document.paths[path][method],
    pointer: pointerTo('paths', path, method),
  });
  const responseOf = (route: AnyRoute, status: number): Located | undefined => {
    const operation = operationOf(route);
    const response = operation.value.responses[status];
    return response && resolve(response, `${operation.pointer}${pointerTo('responses', status)}`);
  };

  return {
    document,
    violations(route, { status, headers, text, body }) {
      const response = responseOf(route, status);
      if (!response) return [`status ${status} is not documented`];
      const { content } = response.value;
      if (!content) return text === '' ? [] : [`a body with status ${status} is not documented`];
      const [sent = ''] = (headers.get('content-type') ?? '').split(';');
      const mediaType = sent in content ? sent : '*/*';
      if (!(mediaType in content)) return [`${sent} with status ${status} is not documented`];
      if (!mediaType.endsWith('json')) return [];
      return schemaErrors(`${response.pointer}${pointerTo('content', mediaType, 'schema')}`, body);
    },
    wrongExamples(route) {
      const operation = operationOf(route);
      const { parameters = [], requestBody, responses } = operation.value;
      const wrong = (described: Json, pointer: string): string[] =>
        described.example === undefined ? [] : schemaErrors(`${pointer}/schema`, described.example);
      const contents = [
        ...(requestBody ? [[requestBody, `${operation.pointer}/requestBody`] as const] : []),
        ...Object.keys(responses).map(
          (status) => [responses[status], `${operation.pointer}${pointerTo('responses', status)}`] as const,
        ),
      ];
      return [
        ...parameters.flatMap((parameter: Json, index: number) =>
          wrong(parameter, `${operation.pointer}${pointerTo('parameters', index)}`),
        ),
        ...contents.flatMap(([described, pointer]) =>
          Object.entries<Json>(described.content ?? {}).flatMap(([type, content]) =>
            wrong(content, `${pointer}${pointerTo('content', type)}`),
          ),
        ),
      ];
    },
  };
}
