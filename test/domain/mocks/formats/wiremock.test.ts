import { importWireMock } from '../../../../domain/mocks/formats/wiremock.ts';

const mapped = (...mappings: unknown[]) => importWireMock(JSON.stringify({ mappings }));
const requestOf = (request: unknown) => mapped({ request, response: {} }).steps[0]?.request;
const refusalOf = (request: unknown, response: unknown = {}) => mapped({ request, response }).notTaken[0];

describe('mappings of WireMock', () => {
  it.each([
    [
      { method: 'GET', url: '/a?b=c&d=1&d=2' },
      { method: 'GET', path: '/a', query: { b: 'c', d: ['1', '2'] }, exact: ['query'] },
    ],
    [{ urlPath: '/a/*' }, { method: '*', path: '/a/%2A' }],
    [
      { method: 'ANY', urlPathTemplate: '/a/{id}/b' },
      { method: '*', path: '/a/{id}/b' },
    ],
    [
      { urlPathTemplate: '/a/{id}', pathParameters: { id: { equalTo: '7' } } },
      { method: '*', path: '/a/7' },
    ],
    [{ urlPathPattern: '/a/[^/]+/b' }, { method: '*', path: '/a/*/b' }],
    [{ urlPathPattern: '^/v1\\.0/.*$' }, { method: '*', path: '/v1.0/**' }],
    [{ urlPattern: '/a\\?.*' }, { method: '*', path: '/a' }],
    [
      { urlPattern: '/a\\?x=([0-9]+)&y=b' },
      { method: '*', path: '/a', query: { x: { regex: '^(?:([0-9]+))$' }, y: 'b' } },
    ],
    [{}, { method: '*', path: '/**' }],
    [
      {
        queryParameters: {
          a: { equalTo: 'x' },
          b: { contains: 'a.b' },
          c: { or: [{ equalTo: '1' }, { equalTo: '2' }] },
        },
      },
      { method: '*', path: '/**', query: { a: 'x', b: { regex: 'a\\.b' }, c: { in: ['1', '2'] } } },
    ],
    [
      { headers: { Accept: { matches: 'text/.*' }, 'X-A': { equalTo: 'b', caseInsensitive: true } } },
      { method: '*', path: '/**', headers: { accept: { regex: '^(?:text/.*)$' }, 'x-a': { regex: '(?i)^b$' } } },
    ],
    [
      { bodyPatterns: [{ equalToJson: '{"a": [1]}', ignoreExtraElements: true }] },
      { method: '*', path: '/**', body: { a: [1] } },
    ],
    [{ bodyPatterns: [{ equalToJson: { a: 1 } }] }, { method: '*', path: '/**', body: { a: 1 }, exact: ['body'] }],
    [
      {
        bodyPatterns: [
          { matchesJsonPath: "$.order[?(@.state == 'new')]" },
          { matchesJsonPath: { expression: '$.order.note', contains: 'gift' } },
        ],
      },
      { method: '*', path: '/**', body: { order: { state: 'new', note: { regex: 'gift' } } } },
    ],
    [{ bodyPatterns: [{ equalTo: 'ping' }] }, { method: '*', path: '/**', body: 'ping' }],
    [{ formParameters: { a: { equalTo: 'b' } } }, { method: '*', path: '/**', body: { a: 'b' } }],
  ])('take the request %j', (request, expected) => {
    expect(requestOf(request)).toEqual(expected);
  });

  it.each([
    [{ bodyPatterns: [{ matchesXPath: '/a' }] }, '/mappings/0/request/bodyPatterns/0/matchesXPath'],
    [{ bodyPatterns: [{ matchesJsonPath: '$..a' }] }, '/mappings/0/request/bodyPatterns/0/matchesJsonPath'],
    [{ headers: { A: { absent: true } } }, '/mappings/0/request/headers/A/absent'],
    [{ headers: { A: { matches: '(?=x)' } } }, '/mappings/0/request/headers/A/matches'],
    [{ headers: { A: { matches: '(a+)+$'.repeat(100) } } }, '/mappings/0/request/headers/A/matches'],
    [{ urlPattern: '/(a|b)/c' }, '/mappings/0/request/urlPattern'],
    [{ cookies: { sid: { equalTo: 'x' } } }, '/mappings/0/request/cookies'],
    [{ customMatcher: { name: 'x' } }, '/mappings/0/request/customMatcher'],
  ])('are not taken with the criterion %j', (request, pointer) => {
    expect(mapped({ request, response: {} }).steps).toEqual([]);
    expect(refusalOf(request)?.pointer).toBe(pointer);
  });

  it('take states of scenarios, of which the first is that of a variable that was never set', () => {
    const { steps } = mapped(
      {
        scenarioName: 'To do',
        requiredScenarioState: 'Started',
        newScenarioState: 'Added',
        request: { method: 'POST', url: '/items' },
        response: { status: 201 },
      },
      {
        scenarioName: 'To do',
        requiredScenarioState: 'Added',
        request: { method: 'GET', url: '/items' },
        response: { body: 'one' },
      },
    );
    expect(steps.map(({ request, response }) => [request.requires, response.sets])).toEqual([
      [{ To_do: 'Added' }, undefined],
      [{ To_do: { nin: ['Added'] } }, { To_do: 'Added' }],
    ]);
  });

  it('are asked by priority, and of one priority the newest first', () => {
    const { steps, notTaken } = mapped(
      { request: { url: '/a' }, response: { body: 'old' } },
      { request: { url: '/a' }, response: { body: 'new' } },
      { priority: 1, request: { url: '/a' }, response: { body: 'first' } },
    );
    expect(steps.map(({ response }) => response.body)).toEqual(['first', 'new', 'old']);
    expect(notTaken[0]?.reason).toContain('priorities');
  });

  it.each([
    [{ fixedDelayMilliseconds: 30 }, { delayMs: 30 }],
    [{ delayDistribution: { type: 'uniform', lower: 10, upper: 20 } }, { delayMs: { min: 10, max: 20 } }],
    [{ delayDistribution: { type: 'lognormal', median: 100, sigma: 0 } }, { delayMs: { min: 100, max: 100 } }],
    [{ fault: 'CONNECTION_RESET_BY_PEER' }, { fault: { kind: 'reset' } }],
    [{ fault: 'RANDOM_DATA_THEN_CLOSE' }, { fault: { kind: 'malformed' } }],
    [{ jsonBody: { a: 1 } }, { body: { a: 1 } }],
    [{ base64Body: 'AAE=' }, { bodyBase64: 'AAE=' }],
    [{ body: 'x'.repeat(100), chunkedDribbleDelay: { numberOfChunks: 4, totalDuration: 1000 } }, { throttle: 102 }],
    [
      { status: 503, headers: { 'Retry-After': 5, Vary: ['a', 'b'] } },
      { status: 503, headers: { 'retry-after': '5', vary: ['a', 'b'] } },
    ],
  ])('take the response %j', (response, expected) => {
    expect(mapped({ request: {}, response }).steps[0]?.response).toMatchObject(expected);
  });

  it('take templates that look things up, and name the segments that they insert', () => {
    const { steps } = mapped({
      request: { method: 'GET', urlPathPattern: '/users/[^/]+/x' },
      response: {
        body: '{{request.pathSegments.[1]}} {{request.query.q}} {{request.headers.X-Id}} {{jsonPath request.body \'$.a.b\'}} {{now}} {{{randomValue type="UUID"}}}',
        transformers: ['response-template'],
      },
    });
    expect(steps[0]?.request.path).toBe('/users/{segment1}/x');
    expect(steps[0]?.response).toMatchObject({
      template: true,
      body: '{{ request.path.segment1 }} {{ request.query.q }} {{ request.headers.x-id }} {{ request.body.a.b }} {{ now }} {{ uuid }}',
    });
  });

  it.each([
    [{ bodyFileName: 'a.json' }, '/mappings/0/response/bodyFileName'],
    [{ proxyBaseUrl: 'http://10.0.0.1' }, '/mappings/0/response/proxyBaseUrl'],
    [{ fault: 'NONE' }, '/mappings/0/response/fault'],
    [{ body: '{{#each x}}{{/each}}', transformers: ['response-template'] }, '/mappings/0/response'],
  ])('are not taken with the response %j', (response, pointer) => {
    expect(refusalOf({}, response)?.pointer).toBe(pointer);
  });

  it('may be one, or a list', () => {
    expect(importWireMock('{"request": {"url": "/a"}, "response": {}}').steps).toHaveLength(1);
    expect(importWireMock('[{"request": {}}, 7]').notTaken).toEqual([{ pointer: '/1', reason: 'is no mapping' }]);
  });
});
