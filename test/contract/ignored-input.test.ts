import { z } from 'zod';
import type { AnyRoute } from '../../api/http/define-route.ts';
import { parametersOf } from '../../api/http/query-parameters.ts';
import { routes } from '../../api/routes.ts';
import { type TestApp, testApp } from '../support/app.ts';
import type { Json } from '../support/client.ts';
import { idleEngine } from '../support/launch.ts';
import { callerOf, nameOf } from './examples.ts';

/** Addresses that other systems and their clients call; whatever else ignores what it does not know is a fault. */
const FOR_OTHERS = [
  'completeOidcSignIn',
  'prometheusBuildInfo',
  'prometheusLabelValues',
  'prometheusLabels',
  'prometheusLabelsByForm',
  'prometheusMetadata',
  'prometheusQuery',
  'prometheusQueryByForm',
  'prometheusQueryRange',
  'prometheusQueryRangeByForm',
  'prometheusSeries',
  'prometheusSeriesByForm',
  'receiveChatCommand',
  'receiveChatEvent',
  'receiveChatInteraction',
  'receiveHook',
];

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const UNKNOWN = 'unknown-parameter';
const strict = routes.filter((route) => parametersOf(route) !== undefined);
const bodiless = routes.filter(({ body }) => body === undefined);
/** A path whose parameters have the right form: most name nothing. */
const ID = '0198c5a0-7b3e-7000-8000-000000000001';
const GOOD = [
  ID,
  'acme%2Fshop',
  'a@acme.example',
  'host-a',
  'main',
  'abcdef1',
  '1',
  'a',
  'manifests%2Facme%2Fshop:main',
  'live.css',
  `approval_expiring:${ID}`,
  'a'.repeat(64),
  'domain',
];

/** The path of a route with values that its schema takes. */
function pathOf({ path, params }: AnyRoute): string {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const values = names.map((name) => {
    const takes = (value: string) => {
      const parsed = params?.safeParse({ [name]: decodeURIComponent(value) });
      return !parsed || parsed.success || parsed.error.issues.every((issue) => issue.path[0] !== name);
    };
    return GOOD.find(takes) ?? 'a';
  });
  return names.reduce((made, name, at) => made.replace(`{${name}}`, values[at] ?? 'a'), path);
}

/** What a route needs to know besides its path, and by which org it is asked where there is a choice. */
function neededBy({ query }: AnyRoute): string {
  if (!(query instanceof z.ZodObject)) return '';
  const shape = query.shape as Record<string, z.ZodType>;
  const needed = Object.entries(shape).filter(
    ([name, schema]) => name === 'username' || !schema.safeParse(undefined).success,
  );
  const given = needed.map(
    ([name, schema]) => `${name}=${GOOD.find((value) => schema.safeParse(decodeURIComponent(value)).success)}`,
  );
  return given.length > 0 ? `?${given.join('&')}` : '';
}

const pointersOf = ({ errors = [] }: Json): string[] => errors.map(({ pointer }: Json) => pointer);

test('what ignores parameters is listed here', () => {
  const open = routes.filter((route) => parametersOf(route) === undefined);
  expect(open.map(({ operationId }) => operationId).toSorted()).toEqual(FOR_OTHERS);
});

test.each(strict.map((route) => [nameOf(route), route] as const))(
  '%s refuses a parameter that it does not know',
  async (_, route) => {
    const answer = await app
      .as(callerOf(route, app))
      .send(route.method.toUpperCase(), `${pathOf(route)}?${UNKNOWN}=1`, route.body && { body: {} });
    expect([answer.status, pointersOf(answer.body)]).toEqual([400, expect.arrayContaining([`#/query/${UNKNOWN}`])]);
  },
);

test.each(bodiless.filter(({ method }) => method !== 'get').map((route) => [nameOf(route), route] as const))(
  '%s refuses a body, as it has no use for one',
  async (_, route) => {
    const send = (rawBody: string) =>
      app.as(callerOf(route, app)).send(route.method.toUpperCase(), `${pathOf(route)}${neededBy(route)}`, {
        rawBody,
        headers: { 'content-type': 'application/json' },
      });
    for (const body of ['{"reason":"x"}', '[]', 'null', 'x', `{"a":"${'x'.repeat(2_000)}"}`]) {
      const answer = await send(body);
      expect([answer.status, pointersOf(answer.body)]).toEqual([400, ['#/body']]);
    }
    expect((await send(' { } ')).body?.errors ?? []).not.toContainEqual(expect.objectContaining({ pointer: '#/body' }));
  },
);
