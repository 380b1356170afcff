import { DateTime, type DurationLike } from 'luxon';
import { compileStep } from '../../../../domain/mocks/scenarios/compile-step.ts';
import { importWireMock } from '../../../../domain/mocks/formats/wiremock.ts';
import { mockRequest } from '../../../../domain/mocks/serving/mock-request.ts';
import type { Step } from '../../../../domain/mocks/scenarios/step-rules.ts';

const mapped = (...mappings: unknown[]) => importWireMock(JSON.stringify({ mappings }));
const requestOf = (request: unknown) => mapped({ request, response: {} }).steps[0]?.request;
const refusalOf = (request: unknown, response: unknown = {}) => mapped({ request, response }).notTaken[0];

const fromNow = (duration: DurationLike) => DateTime.utc().plus(duration).toISO();

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
    [
      { urlPathPattern: '/a/\\d+' },
      { method: '*', path: '/a/*', checks: [{ of: 'path', is: { matches: '/a/\\d+' } }] },
    ],
    [
      { urlPattern: '/a\\?x=([0-9]+)&y=b' },
      { method: '*', path: '/a', checks: [{ of: 'url', is: { matches: '/a\\?x=([0-9]+)&y=b' } }] },
    ],
    [{ urlPattern: '/(a|b)/c' }, { method: '*', path: '/**', checks: [{ of: 'url', is: { matches: '/(a|b)/c' } }] }],
    [
      { headers: { A: { absent: true } } },
      { method: '*', path: '/**', checks: [{ of: 'headers', name: 'a', isAbsent: true }] },
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
    [{ bodyPatterns: [{ matchesJsonPath: '$..a..b' }] }, '/mappings/0/request/bodyPatterns/0'],
    [{ bodyPatterns: [{ matchesJsonPath: '$.a.length()' }] }, '/mappings/0/request/bodyPatterns/0'],
    [{ bodyPatterns: [{ equalToXml: '<a>' }] }, '/mappings/0/request/bodyPatterns/0'],
    [
      { bodyPatterns: [{ equalToXml: '<a>${ xmlunit.ignore}</a>', enablePlaceholders: true }] },
      '/mappings/0/request/bodyPatterns/0/equalToXml',
    ],
    [{ bodyPatterns: [{ equalToXml: '<a/>', namespaceAwareness: 'NONE' }] }, '/mappings/0/request/bodyPatterns/0'],
    [{ bodyPatterns: [{ before: 'now +3 weeks' }] }, '/mappings/0/request/bodyPatterns/0'],
    [{ bodyPatterns: [{ before: 'now +999999999 years' }] }, '/mappings/0/request/bodyPatterns/0'],
    [{ bodyPatterns: [{ after: '2026-01-01', actualFormat: "yyyy 'week' w" }] }, '/mappings/0/request/bodyPatterns/0'],
    [{ bodyPatterns: [{ after: '2026-01-01', actualFormat: 'yy' }] }, '/mappings/0/request/bodyPatterns/0'],
    [
      { bodyPatterns: [{ after: 'now', truncateExpected: 'first minute of day' }] },
      '/mappings/0/request/bodyPatterns/0',
    ],
    [
      { bodyPatterns: [{ after: '2026-01-01', expectedOffset: 1, expectedOffsetUnit: 'days' }] },
      '/mappings/0/request/bodyPatterns/0/expectedOffset',
    ],
    [{ headers: { A: { matches: '(?=x)' } } }, '/mappings/0/request/headers/A/matches'],
    [{ headers: { A: { matches: '(a+)+$'.repeat(100) } } }, '/mappings/0/request/headers/A/matches'],
    [{ headers: { A: { equalTo: 'a', unknownThing: 1 } } }, '/mappings/0/request/headers/A'],
    [{ basicAuth: { username: 'a', password: 'b' } }, '/mappings/0/request/basicAuth'],
    [{ basicAuthCredentials: { username: 'a', password: 'b' } }, '/mappings/0/request/basicAuthCredentials'],
    [{ clientIp: { equalTo: '10.0.0.1' } }, '/mappings/0/request/clientIp'],
    [{ unknownThing: 1 }, '/mappings/0/request/unknownThing'],
    [{ url: '/a', urlPath: '/b' }, '/mappings/0/request/urlPath'],
    [{ customMatcher: { name: 'x' } }, '/mappings/0/request/customMatcher'],
  ])('are not taken with the criterion %j', (request, pointer) => {
    expect(mapped({ request, response: {} }).steps).toEqual([]);
    expect(refusalOf(request)?.pointer).toBe(pointer);
  });

  it('are taken with a host, a port and a scheme, which are named', () => {
    const { steps, notTaken } = mapped({ request: { url: '/a', host: 'a.example', port: 8080, scheme: 'https' } });
    expect(steps).toHaveLength(1);
    expect(notTaken.map(({ pointer }) => pointer)).toEqual(
      ['scheme', 'host', 'port'].map((name) => `/mappings/0/request/${name}`),
    );
  });

  const JSON_BODY =
    '{"order": {"id": 7, "note": null, "items": [{"sku": "a", "price": 5}, {"sku": "b", "price": 20}]}}';
  const XML_BODY = '<o:order xmlns:o="urn:o" id="1" kind="x">\n  <o:item>a</o:item>\n</o:order>';
  /** What a criterion answers and what not: bodies, or else targets and headers. */
  it.each<[object, string[], string[]]>([
    [{ bodyPatterns: [{ contains: 'Cancel' }] }, ['zz Cancel zz', '{"a": "Cancel"}'], ['cancel', '']],
    [{ bodyPatterns: [{ contains: 'a' }, { contains: 'b' }] }, ['ab', 'b-a'], ['a', 'b']],
    [{ bodyPatterns: [{ matches: 'a+' }] }, ['aa'], ['aab', '']],
    [{ bodyPatterns: [{ doesNotMatch: '.*x.*' }] }, ['a', ''], ['axb', 'a'.repeat(5_000)]],
    [{ bodyPatterns: [{ doesNotContain: 'x' }] }, ['a'], ['axb']],
    [{ bodyPatterns: [{ not: { contains: 'x' } }] }, ['a'], ['x']],
    [{ bodyPatterns: [{ and: [{ contains: 'a' }, { matches: '.{3}' }] }] }, ['abc'], ['ab', 'xyz']],
    [{ bodyPatterns: [{ or: [{ equalTo: 'a' }, { contains: 'b' }] }] }, ['a', 'xbx'], ['aa']],
    [{ bodyPatterns: [{ equalTo: 'A', caseInsensitive: true }] }, ['a'], ['aa']],
    [{ bodyPatterns: [{ absent: true }] }, [''], ['a']],
    [{ bodyPatterns: [{ matchesJsonPath: '$.order.id' }] }, [JSON_BODY], ['{"order": {}}', 'text', '']],
    [{ bodyPatterns: [{ matchesJsonPath: '$.order.note' }] }, [], [JSON_BODY]],
    [{ bodyPatterns: [{ matchesJsonPath: '$..sku' }] }, [JSON_BODY], ['{"order": {}}']],
    [
      { bodyPatterns: [{ matchesJsonPath: '$.order.items[?(@.price > 10)]' }] },
      [JSON_BODY],
      ['{"order": {"items": [{"price": 1}]}}'],
    ],
    [
      { bodyPatterns: [{ matchesJsonPath: "$..[?(@.sku == 'b' && @.price == 20)]" }] },
      [JSON_BODY],
      ['{"sku": "b", "price": 2}'],
    ],
    [{ bodyPatterns: [{ matchesJsonPath: '$.order[?(@.id > 5)]' }] }, [JSON_BODY], ['{"order": {"id": 5}}']],
    [
      { bodyPatterns: [{ matchesJsonPath: { expression: '$.order.items[*].sku', matches: '[bc]' } }] },
      [JSON_BODY],
      ['{"order": {"items": [{"sku": "a"}]}}'],
    ],
    [
      { bodyPatterns: [{ matchesJsonPath: { expression: '$.order.gone', absent: true } }] },
      [JSON_BODY],
      ['{"order": {"gone": 1}}'],
    ],
    [{ bodyPatterns: [{ equalToJson: '[1, 2]', ignoreArrayOrder: true }] }, ['[2, 1]'], ['[1, 2, 3]', '[1, 1]']],
    [
      { bodyPatterns: [{ equalToXml: XML_BODY, enablePlaceholders: true }] },
      [XML_BODY, '<order xmlns="urn:o" kind="x" id="1"><item>a</item></order>'],
      ['<order id="1" kind="x"><item>a</item></order>', '<a/>', 'a'],
    ],
    [
      { bodyPatterns: [{ equalToXml: '<things><thing-one/><thing-two>2</thing-two></things>' }] },
      ['<things> <thing-two>2</thing-two>\n<thing-one/> </things>'],
      ['<things><thing-two>2</thing-two></things>', '<things>x<thing-one/><thing-two>2</thing-two></things>'],
    ],
    [
      { bodyPatterns: [{ equalToXml: '<body><entry>1</entry><entry>2</entry></body>' }] },
      ['<body><entry>1</entry><entry>2</entry></body>'],
      ['<body><entry>2</entry><entry>1</entry></body>'],
    ],
    [
      { bodyPatterns: [{ equalToXml: '<a>x<b/>y<c/></a>' }] },
      ['<a>x<b></b>y<c/></a>'],
      ['<a>x<c/>y<b/></a>', '<a><b/>x<c/>y</a>'],
    ],
    [
      {
        bodyPatterns: [{ equalToXml: '<body><entry>1</entry><entry>2</entry></body>', ignoreOrderOfSameNode: true }],
      },
      ['<body><entry>2</entry><entry>1</entry></body>', '<body><entry>1</entry><entry>2</entry></body>'],
      ['<body><entry>2</entry><entry>2</entry></body>', '<body><entry>1</entry></body>'],
    ],
    [
      { bodyPatterns: [{ before: '2026-03-02T00:00:00Z' }] },
      ['2026-03-01T00:00:00Z'],
      ['2026-03-02T00:00:01Z', 'yesterday'],
    ],
    [{ bodyPatterns: [{ after: '2026-03-02T00:00:00Z' }] }, ['2026-03-02T01:00:00+00:30'], ['2026-03-01']],
    [{ bodyPatterns: [{ before: 'now +3 days' }] }, [fromNow({ days: 2 })], [fromNow({ days: 4 }), '', 'soon']],
    [{ bodyPatterns: [{ after: '-1 months' }] }, [fromNow({ days: -2 })], [fromNow({ days: -40 })]],
    [
      { bodyPatterns: [{ before: 'now', expectedOffset: 1, expectedOffsetUnit: 'hours' }] },
      [fromNow({ minutes: 30 })],
      [fromNow({ minutes: 90 })],
    ],
    [
      {
        bodyPatterns: [{ equalToDateTime: 'now', truncateExpected: 'first day of month', actualFormat: 'dd/MM/yyyy' }],
      },
      [DateTime.utc().startOf('month').toFormat('dd/MM/yyyy')],
      [DateTime.utc().startOf('month').toFormat('yyyy-MM-dd'), '31/02/2026'],
    ],
    [
      { bodyPatterns: [{ equalToDateTime: '2026-03-02', actualFormat: "EEE, d MMM yyyy 'at' HH:mm XXX" }] },
      ['Mon, 2 Mar 2026 at 00:00 Z', 'Mon, 2 Mar 2026 at 00:00 +02:00'],
      ['Mon, 2 Mar 2026 at 00:01 Z', 'Tue, 2 Mar 2026 at 00:00 Z'],
    ],
    [
      { bodyPatterns: [{ equalToDateTime: '2026-03-01T00:00:00Z', truncateActual: 'first day of month' }] },
      ['2026-03-31T23:59:59Z'],
      ['2026-04-01T00:00:00Z', '2026-03-31T23:59:59'],
    ],
    [{ bodyPatterns: [{ after: '2026-03-02T00:00:00Z', actualFormat: 'unix' }] }, ['1772500000'], ['1772000000', 'x']],
    [{ headers: { Date: { before: '2026-03-02T00:00:00Z' } } }, ['/ date:Sun, 01 Mar 2026 10:00:00 GMT'], ['/ date:x']],
    [{ urlPattern: '/testmapping' }, ['/testmapping'], ['/testmapping?extra=1', '/testmapping/a']],
    [{ urlPath: '/a' }, ['/a', '/a?b=1'], ['/a/b']],
    [{ urlPathPattern: '/a/\\d+' }, ['/a/12', '/a/12?x=1'], ['/a/b']],
    [{ urlPattern: '/a\\?x=.*' }, ['/a?x=1'], ['/a']],
    [{ queryParameters: { a: { absent: true } } }, ['/a', '/a?b=1'], ['/a?a=1']],
    [{ queryParameters: { a: { doesNotMatch: '1' } } }, ['/a?a=2'], ['/a?a=1', '/a']],
    [{ headers: { 'X-A': { not: { equalTo: 'b' } } } }, ['/ x-a:c'], ['/ x-a:b', '/']],
    [{ cookies: { lang: { equalTo: 'de' } } }, ['/ cookie:a=b; lang=de'], ['/ cookie:lang=en', '/']],
  ])('with %j answer the same requests', (request, answered, others) => {
    const [step] = mapped({ request, response: {} }).steps;
    const { matches } = compileStep(step as Step);
    const called = (text: string) => {
      const [target = '', header] = 'bodyPatterns' in request ? ['/'] : text.split(/ (?=[a-z-]+:)/);
      const [name = '', value = ''] = header?.split(/:(.*)/s) ?? [];
      const body = 'bodyPatterns' in request ? text : '';
      return mockRequest('POST', target, header === undefined ? {} : { [name]: value }, Buffer.from(body));
    };
    expect(answered.filter((text) => !matches(called(text), {}))).toEqual([]);
    expect(others.filter((text) => matches(called(text), {}))).toEqual([]);
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
    [{ body: 'x'.repeat(100), chunkedDribbleDelay: { numberOfChunks: 4, totalDuration: 1000 } }, { throttle: 100 }],
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

  it('are not needed for operators of the text of a body', () => {
    const request = { method: 'POST', path: '/a', body: { regex: 'Cancel' } };
    const { matches } = compileStep({ seq: 1, request, response: { status: 200 }, times: null });
    const called = (text: string) => mockRequest('POST', '/a', {}, Buffer.from(text));
    expect(['zz Cancel zz', '{"a":"Cancel"}', 'cancel', ''].map((text) => matches(called(text), {}))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('may be one, or a list', () => {
    expect(importWireMock('{"request": {"url": "/a"}, "response": {}}').steps).toHaveLength(1);
    expect(importWireMock('[{"request": {}}, 7, {"priority": "LOW"}]').notTaken).toEqual([
      { pointer: '/1', reason: expect.stringContaining('is no mapping') },
      { pointer: '/2/priority', reason: expect.stringContaining('is no mapping') },
    ]);
  });
});
