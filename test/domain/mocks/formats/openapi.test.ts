import { compileStep } from '../../../../domain/mocks/scenarios/compile-step.ts';
import { mockRequest } from '../../../../domain/mocks/serving/mock-request.ts';
import { compileSteps, stepFor } from '../../../../domain/mocks/serving/replay.ts';
import { Turns } from '../../../../domain/kernel/shared/turns.ts';
import type { Step } from '../../../../domain/mocks/scenarios/step-rules.ts';
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
      ['DELETE', '/orders/{orderId}', { status: 404, headers: {} }],
    ]);
    expect(steps.every(({ times }) => times === null)).toBe(true);
    expect(notTaken).toEqual([
      { pointer: '/paths', reason: expect.stringMatching(/^1 responses are not answered/) },
      { pointer: '/webhooks', reason: 'are requests that the described service sends' },
    ]);
  });

  const called = (method: string, target: string, body = '', headers: Record<string, string> = {}) =>
    mockRequest(method, target, { 'content-type': 'application/json', ...headers }, Buffer.from(body));
  const shop = {
    '/orders/{orderId}': {
      parameters: [{ $ref: '#/components/parameters/Order' }],
      put: {
        parameters: [
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string', pattern: '^(?!x)[a-z]+$' } } },
          { name: 'X-Page', in: 'header', schema: { type: 'integer', minimum: 0, exclusiveMinimum: true } },
          { name: 'filter', in: 'query', required: true, style: 'deepObject', schema: { type: 'object' } },
          { name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
        },
        responses: {
          200: {
            description: '',
            content: {
              'application/json': {
                schema: { $ref: '#/components/schemas/Order' },
                examples: { small: { value: { orderId: 1, note: 'n' } }, large: { value: { orderId: 2 } } },
              },
            },
          },
          422: { description: '', content: { 'application/json': { example: { error: 'no' } } } },
        },
      },
    },
  };
  const components = {
    parameters: { Order: { name: 'orderId', in: 'path', required: true, schema: { type: 'integer' } } },
    schemas: {
      Order: {
        type: 'object',
        required: ['id', 'note'],
        properties: {
          id: { type: 'integer', readOnly: true },
          orderId: { type: 'integer' },
          note: { type: 'string', nullable: true },
          child: { $ref: '#/components/schemas/Order' },
        },
      },
    },
  };

  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['/orders/7', '{"note": "a"}', {}, undefined],
    ['/orders/7?tags=a&tags=b', '{"note": null, "child": {"note": "b"}}', { 'x-page': '1' }, undefined],
    ['/orders/seven', '{"note": "a"}', {}, '/path/orderId must be integer'],
    ['/orders/7?tags=a', '{"note": 1}', {}, '/body/note must be string,null'],
    ['/orders/7', '{"note": "a"}', { 'x-page': '0' }, '/headers/x-page must be > 0'],
    ['/orders/7', '{"note": "a", "child": {}}', {}, '/body/child/note is required'],
    ['/orders/7', '', {}, '/body is required'],
    ['/orders/7', '{', {}, '/body is not JSON'],
    ['/orders/7', 'x', { 'content-type': 'text/plain' }, '/headers/content-type must be application/json'],
  ])('says what is wrong with %s %s %j', (target, body, headers, expected) => {
    const [step] = described(shop, { components }).steps;
    const { validation, parameters } = compileStep(step as Step);
    const fault = validation?.()(called('PUT', target, body, headers), parameters(target.split('?')[0] ?? ''));
    expect(fault && `${fault.pointer} ${fault.detail}`).toBe(expected);
  });

  it('answers with other responses, examples and samples where Prefer asks for them', async () => {
    const { steps, notTaken } = described(shop, { components });
    const compiled = await compileSteps('any', steps);
    const run = { name: '', revision: 0, cursor: 0, hits: new Map(), variables: {}, matched: 0, unmatched: 0 };
    const evaluation = { work: <T>(evaluate: () => T) => evaluate(), turns: new Turns(Infinity) };
    const answered = async (prefer: string) => {
      const request = called('PUT', '/orders/7', '{}', prefer === '' ? {} : { prefer });
      const step = await stepFor(compiled, run, request, evaluation);
      return steps.find(({ seq }) => seq === step?.seq)?.response;
    };
    const small = { orderId: 1, note: 'n' };
    expect(await answered('')).toMatchObject({
      status: 200,
      body: small,
      echo: { orderId: 'path.orderId', note: 'body.note' },
    });
    expect((await answered('example=small, wait=3'))?.body).toEqual(small);
    expect((await answered('example="large"'))?.body).toEqual({ orderId: 2 });
    expect((await answered('respond-async, dynamic=true'))?.body).toEqual({ id: 1, orderId: 1, note: 'string' });
    expect(await answered('code=422')).toMatchObject({ status: 422, body: { error: 'no' } });
    expect((await answered('code=422'))?.validates).toBeUndefined();
    expect((await answered('code=4220'))?.status).toBe(200);
    expect((await answered(''))?.validates?.status).toBe(422);
    expect(notTaken).toEqual([]);
  });

  it('checks no requests where it is told so, or where their schemas cannot be used', () => {
    const content = JSON.stringify({ openapi: '3.1.0', paths: shop, components });
    expect(importOpenApi(content, { validates: false }).steps.filter(({ response }) => response.validates)).toEqual([]);
    const large = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`member${at}`, { type: 'integer' }]));
    const posting = (schema: unknown) =>
      described({ '/a': { post: { ...jsonOf({}), requestBody: { content: { 'application/json': { schema } } } } } });
    for (const [schema, reason] of [
      [{ properties: large }, 'larger than 12 KB'],
      [{ $dynamicRef: '#a' }, '$dynamicRef'],
      [{ $ref: 'other.yaml' }, 'leads to nothing'],
      [{ type: 'file' }, 'the keyword type'],
      [{ properties: { a: { required: 'b' } } }, 'the keyword required'],
      [{ maxLength: '3' }, 'the keyword maxLength'],
      [{ patternProperties: { '(?!a)': true } }, 'a pattern of names'],
    ] as const) {
      const { steps, notTaken } = posting(schema);
      expect(steps[0]?.response.validates).toBeUndefined();
      expect(notTaken).toEqual([{ pointer: '/paths/~1a/post', reason: expect.stringContaining(reason) }]);
    }
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
