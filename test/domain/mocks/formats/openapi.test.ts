import { importOpenApi } from '../../../../domain/mocks/formats/openapi.ts';

const described = (paths: unknown, more: Record<string, unknown> = {}) =>
  importOpenApi(JSON.stringify({ openapi: '3.1.0', info: { title: 'Shop', version: '2' }, paths, ...more }));
const jsonOf = (media: unknown) => ({
  responses: { 200: { description: '', content: { 'application/json': media } } },
});

describe('a description of OpenAPI', () => {
  it('becomes a step for each operation, with its example or a sample of its schema', () => {
    const { scenario, steps, notTaken } = described(
      {
        '/orders/{orderId}': {
          get: jsonOf({ example: { id: 'o-1' } }),
          delete: { responses: { 204: { description: 'gone' }, 404: { description: 'unknown' } } },
        },
        '/orders': {
          get: jsonOf({ schema: { type: 'array', items: { $ref: '#/components/schemas/Order' } } }),
          post: { responses: { default: { $ref: '#/components/responses/Error' }, 201: { description: '' } } },
        },
        '/compare/{base}...{head}': { get: jsonOf({ examples: { a: { value: 'text' } } }) },
      },
      {
        servers: [{ url: 'https://{region}.example.com/v2/', variables: { region: { default: 'eu' } } }],
        components: {
          schemas: {
            Order: {
              type: 'object',
              properties: {
                id: { type: 'string', format: 'uuid' },
                count: { type: 'integer', minimum: 3 },
                state: { enum: ['open', 'paid'] },
                secret: { type: 'string', writeOnly: true },
                parent: { $ref: '#/components/schemas/Order' },
                note: { type: ['null', 'string'], maxLength: 3 },
              },
            },
          },
          responses: { Error: { description: '' } },
        },
        webhooks: {},
      },
    );
    expect(scenario).toEqual({ description: 'Shop 2', mode: 'any', upstream: 'https://eu.example.com/v2' });
    const type = { 'content-type': 'application/json' };
    expect(steps.map(({ request, response }) => [request.method, request.path, response])).toEqual([
      ['GET', '/orders/{orderId}', { status: 200, headers: type, body: { id: 'o-1' } }],
      ['DELETE', '/orders/{orderId}', { status: 204, headers: {} }],
      [
        'GET',
        '/orders',
        {
          status: 200,
          headers: type,
          body: [{ id: '00000000-0000-4000-8000-000000000000', count: 3, state: 'open', note: 'str' }],
        },
      ],
      ['POST', '/orders', { status: 201, headers: {} }],
      ['GET', '/compare/*...*', { status: 200, headers: type, body: '"text"' }],
    ]);
    expect(steps.every(({ times }) => times === null)).toBe(true);
    expect(notTaken).toEqual([
      { pointer: '/paths', reason: 'operations answer with their success; 2 other responses are not answered' },
      { pointer: '/webhooks', reason: 'are requests that the described service sends' },
    ]);
  });

  it.each([
    [{ allOf: [{ properties: { a: { type: 'integer' } } }, { properties: { b: { const: 2 } } }] }, { a: 1, b: 2 }],
    [{ oneOf: [{ type: 'null' }, { type: 'boolean' }] }, true],
    [{ type: 'number', minimum: 0, exclusiveMinimum: true }, 1],
    [{ type: 'integer', exclusiveMaximum: 0 }, -1],
    [{ type: 'string', minLength: 8 }, '"stringst"'],
    [{ type: 'object', additionalProperties: { type: 'string', format: 'date' } }, { name: '2026-01-01' }],
    [{ type: 'array', prefixItems: [{ const: 1 }, { type: 'null' }] }, [1, null]],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
    [{ examples: [5] }, 5],
    [{ default: 'x', type: 'string' }, '"x"'],
  ])('samples %j', (schema, expected) => {
    const { steps } = described({ '/': { get: jsonOf({ schema }) } });
    expect(steps[0]?.response.body).toEqual(expected);
  });

  it('samples schemas that stand for a billion values in little time', () => {
    const schemas: Record<string, unknown> = { S10: { type: 'string' } };
    for (let level = 0; level < 10; level++)
      schemas[`S${level}`] = {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 9 }, (_, index) => [`p${index}`, { $ref: `#/components/schemas/S${level + 1}` }]),
        ),
      };
    const before = process.threadCpuUsage();
    const { steps } = described(
      { '/': { get: jsonOf({ schema: { $ref: '#/components/schemas/S0' } }) } },
      { components: { schemas } },
    );
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system).toBeLessThan(1_000_000);
    expect(JSON.stringify(steps[0]?.response.body).length).toBeLessThan(100_000);
  });

  it('does not repeat a long example without end', () => {
    const properties = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`p${index}`, { $ref: '#/x' }]));
    const { steps } = described(
      { '/': { get: jsonOf({ schema: { type: 'object', properties } }) } },
      { x: { example: 'x'.repeat(1_000_000) } },
    );
    expect(Object.keys(steps[0]?.response.body as object)).toHaveLength(5);
  });

  it('follows no references to other documents, and none in a circle', () => {
    const { steps, notTaken } = described(
      {
        '/a': { $ref: 'https://example.com/paths.json#/a' },
        '/b': { get: { responses: { 200: { $ref: '#/components/responses/Round' } } } },
        '/c': { get: jsonOf({ schema: { $ref: 'other.json' } }) },
      },
      { components: { responses: { Round: { $ref: '#/components/responses/Round' } } } },
    );
    expect(steps.map(({ request }) => request.path)).toEqual(['/c']);
    expect(notTaken).toEqual([
      { pointer: '/paths/~1a', reason: 'is no path item that could be read' },
      { pointer: '/paths/~1b/get/responses/200', reason: 'refers to nothing that could be read' },
      {
        pointer: '/paths/~1c/get/responses/200/content/application~1json',
        reason: 'has a schema that cannot be sampled; the answer is empty',
      },
    ]);
  });

  it('is read as YAML, too', () => {
    const { steps } = importOpenApi(
      'openapi: 3.0.3\npaths:\n  /a:\n    get:\n      responses:\n        "200":\n          description: ok\n',
    );
    expect(steps).toHaveLength(1);
  });

  it.each([
    ['{"swagger": "2.0", "paths": {}}', 'is of Swagger 2.0'],
    ['openapi: 4.0.0', 'has no openapi: 3.'],
    ['[]', 'The description'],
    ['{', 'is not JSON'],
  ])('is refused: %s', (content, message) => {
    expect(() => importOpenApi(content)).toThrow(message);
  });
});
