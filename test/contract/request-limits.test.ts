import type { z } from 'zod';
import { openApiDocument } from '../../api/http/openapi/openapi.ts';
import { routes } from '../../api/routes.ts';
import { FLOW_TYPES } from '../../domain/delivery/flows/flow-types.ts';
import { nameOf } from './examples.ts';

interface Definition {
  type: string;
  checks?: { _zod: { def: { check: string } } }[];
  shape?: Record<string, z.ZodType>;
  [part: string]: unknown;
}

/** What of a schema a client could make large at a cost: arrays without a maximum, and Zod's own records. */
function* unbounded(schema: z.ZodType, place: string): Generator<string> {
  const definition = schema._zod.def as unknown as Definition;
  const { type, checks = [], shape = {} } = definition;
  if (type === 'array' && !checks.some(({ _zod }) => ['max_length', 'length_equals'].includes(_zod.def.check)))
    yield `${place}: array without a maximum`;
  if (type === 'record' && !schema._zod.traits.has('LargeMap')) yield `${place}: record`;
  for (const [name, member] of Object.entries(shape)) yield* unbounded(member, `${place}/${name}`);
  const parts = ['element', 'innerType', 'in', 'out', 'valueType', 'catchall', 'left', 'right'].map(
    (part) => definition[part],
  );
  for (const part of [...parts, ...((definition.options ?? definition.items ?? []) as unknown[])])
    if (part) yield* unbounded(part as z.ZodType, place);
}

test.each(routes.filter(({ body }) => body).map((route) => [nameOf(route), route.body as z.ZodType] as const))(
  '%s bounds what it checks one by one',
  (_, body) => {
    expect([...unbounded(body, '')]).toEqual([]);
  },
);

test.each(FLOW_TYPES.map(({ id, payload }) => [id, payload] as const))('so does the payload of %s', (_, payload) => {
  expect([...unbounded(payload, '')]).toEqual([]);
});

test('patterns of the reference mean the same with and without the flag u', () => {
  const document = openApiDocument(routes, 'https://quayside.test', {});
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '']) => JSON.parse(text) as string,
  );
  expect(patterns.length).toBeGreaterThan(10);
  for (const pattern of new Set(patterns)) {
    expect(() => new RegExp(pattern, 'u')).not.toThrow();
    expect(pattern).not.toMatch(/\\p\{|\\u\{/i);
  }
});
