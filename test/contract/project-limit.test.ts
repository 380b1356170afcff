import type { Bearer } from '../support/client.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { engineAway } from '../support/launch.ts';
import { addressOf, type Examples, guardedRoutes, makeExamples, nameOf, optionsOf } from './examples.ts';
import { type PublishedReference, publishedReference } from './published-reference.ts';

let app: TestApp;
let examples: Examples;
let reference: PublishedReference;
/** Tokens that are limited to the project of the examples, and to another one of the same tenant. */
let ownToken: Bearer;
let foreignToken: Bearer;

beforeAll(async () => {
  app = await testApp({ launch: engineAway, commands: ['analyze', 'build'] });
  examples = makeExamples(app);
  reference = await publishedReference(app.as());
  const owner = app.as(app.owner);
  for (const route of guardedRoutes) await examples.of(route);
  const { items } = await owner.get(200, '/api/projects');
  await owner.post(201, '/api/projects', { identifier: 'acme/elsewhere', platform: 'host-a' });
  ownToken = await owner.post(201, '/api/application-tokens', {
    name: 'own',
    projects: items.map(({ identifier }: { identifier: string }) => identifier),
  });
  foreignToken = await owner.post(201, '/api/application-tokens', { name: 'foreign', projects: ['acme/elsewhere'] });
});
afterAll(() => app.close());

const table = guardedRoutes.map((route) => [nameOf(route), route] as const);

test.each(table)('%s with a token of another project tells nothing and changes nothing', async (_, route) => {
  const example = await examples.of(route);
  const before = await trailLength();
  const reply = await app
    .as(foreignToken)
    .send(route.method.toUpperCase(), addressOf(route, example), optionsOf(example));
  const { status, text, body } = reply;
  const isForApplications = (route.roles as readonly string[]).includes('application');
  if (!isForApplications || route.projectScope === 'refused' || (route.projectScope === 'collection' && route.params)) {
    expect([status, body.code]).toEqual([403, 'forbidden']);
  }
  if (isForApplications && status === 403) expect(body.detail).toMatch(/limited to projects/);
  // Where a query or a body names the repository, it is unknown to the token: 400.
  if (status >= 400) expect(['invalid_request', 'not_found', 'forbidden']).toContain(body.code);
  // A refusal repeats what the caller sent; beyond that, nothing of the other project may show.
  if (status < 400) for (const secret of examples.secrets()) expect(text).not.toContain(secret);
  // What the token may create is its own.
  if (status >= 400 || route.method === 'get') expect(await trailLength()).toBe(before);
  expect(reference.violations(route, reply)).toEqual([]);
});

const ofRows = table.filter(
  ([, { roles, projectScope, path }]) =>
    projectScope === 'row' && (roles as readonly string[]).includes('application') && !path.startsWith('/api/webhooks'),
);

test.each(ofRows)('%s serves a token of the project', async (_, route) => {
  const example = await examples.of(route);
  const reply = await app.as(ownToken).send(route.method.toUpperCase(), addressOf(route, example), optionsOf(example));
  // Some of the things belong to their owner, or are gone by the calls before; the engine is away.
  expect([200, 201, 202, 204, 302, 403, 404, 409, 503]).toContain(reply.status);
  expect(reply.text).not.toContain('limited to projects');
});

const trailLength = async () => {
  const [row] = await app.sql<{ entries: string }>('select count(*) as entries from audit_entry where tenant_id = ?', [
    app.tenant.id,
  ]);
  return Number(row?.entries);
};
