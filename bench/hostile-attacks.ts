import type { StepRequest, StepResponse } from '../domain/mocks/scenarios/step-rules.ts';

/** What a step tests, or makes of a request, with the request that takes it longest. */
export interface Attack {
  match: Partial<StepRequest>;
  response?: Partial<StepResponse>;
  body: string;
  headers: Record<string, string>;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const list = (count: number, element: string) => `[${`${element},`.repeat(count - 1)}${element}]`;
const check = (is: unknown) => ({ checks: [{ of: 'body' as const, is }] });

export const MOCK_ATTACKS: Record<string, Attack> = {
  'pattern of a header': {
    match: { headers: { 'x-a': { regex: '(a?){480}[^a]' } } },
    body: '',
    headers: { 'x-a': 'a'.repeat(640) },
  },
  'JSON path that descends': {
    match: check({ jsonPath: '$..[?@.a]', none: true }),
    body: list(1_100, '{"a":1}'),
    headers: JSON_TYPE,
  },
  'XML of empty elements': { match: check({ xml: '<b/>' }), body: `<a>${'<b/>'.repeat(13_000)}</a>`, headers: {} },
  'XML of deep elements': {
    match: check({ xml: '<b/>' }),
    body: `${'<a>'.repeat(190)}${'<b/>'.repeat(4_000)}${'</a>'.repeat(190)}`,
    headers: {},
  },
  'search for a long text': {
    match: check({ contains: `${'a'.repeat(15_000)}b${'a'.repeat(15_000)}` }),
    body: 'a'.repeat(1_100_000),
    headers: {},
  },
  'lists in any order': {
    match: check({ json: Array.from({ length: 1_200 }, (_, at) => at), anyOrder: true }),
    body: JSON.stringify(Array.from({ length: 1_200 }, (_, at) => 1_200 - at)),
    headers: JSON_TYPE,
  },
  'JSON of many values': { match: { body: ['x'] }, body: list(49_900, '{}'), headers: JSON_TYPE },
  'JSON of too many values': { match: { body: ['x'] }, body: list(1_700_000, '{}'), headers: JSON_TYPE },
  'form of many fields': {
    match: { body: { x: '1' } },
    body: Array.from({ length: 9_999 }, (_, at) => `k${at}=1`).join('&'),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  'form of too many fields': {
    match: { body: { x: '1' } },
    body: 'k=1&'.repeat(1_300_000),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  'schema of a large body': {
    match: {},
    response: { validates: { body: { items: { properties: { a: { uniqueItems: true } } } } } },
    body: list(20_000, '{"a":[1,2,3]}'),
    headers: JSON_TYPE,
  },
  'variables of a large body': {
    match: { captures: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`v${at}`, 'body'])) },
    body: list(40_000, '{}'),
    headers: JSON_TYPE,
  },
  'template with a large body': {
    match: {},
    response: {
      template: true,
      headers: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x-${at}`, '{{ request.body }}'])),
    },
    body: list(40_000, '{}'),
    headers: JSON_TYPE,
  },
};
