import { newId } from '../../domain/kernel/shared/ids.ts';
import { addressOf, callerOf, type Examples, guardedRoutes, makeExamples, nameOf, optionsOf } from './examples.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { engineAway } from '../support/launch.ts';
import { type PublishedReference, publishedReference } from './published-reference.ts';

let app: TestApp;
let examples: Examples;
let reference: PublishedReference;
beforeAll(async () => {
  app = await testApp({ launch: engineAway, commands: ['analyze', 'build'] });
  examples = makeExamples(app);
  reference = await publishedReference(app.as());
});
afterAll(() => app.close());

const table = guardedRoutes.map((route) => [nameOf(route), route] as const);
const call = async (route: (typeof guardedRoutes)[number]) => {
  const example = await examples.of(route);
  return [route.method.toUpperCase(), addressOf(route, example), optionsOf(example)] as const;
};

test.each(table)('%s without a credential: 401', async (_, route) => {
  const [method, address, options] = await call(route);
  const reply = await app.as().request(401, method, address, options);
  expect(reply.body.code).toBe('unauthenticated');
  expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  expect(reference.violations(route, reply)).toEqual([]);
});

const wrongRoles = guardedRoutes.flatMap((route) =>
  (['owner', 'member', 'application'] as const)
    .filter((role) => !(route.roles as readonly string[]).includes(role))
    .map((role) => [nameOf(route), role, route] as const),
);

test.each(wrongRoles)('%s as %s: 403 that names the roles', async (_, role, route) => {
  const [method, address, options] = await call(route);
  const reply = await app.as(app[role]).request(403, method, address, options);
  expect(reply.body).toMatchObject({
    code: 'forbidden',
    detail: `Forbidden - Requires role: ${(route.roles as string[]).join(', ')}`,
  });
  expect(reference.violations(route, reply)).toEqual([]);
});

test.each(table)('%s with what belongs to another tenant tells nothing and changes nothing', async (_, route) => {
  const example = await examples.of(route);
  const before = await trailLength();
  const stranger = callerOf(route, { owner: app.stranger, application: app.strangerApplication });
  const reply = await app.as(stranger).send(...(await call(route)));
  const { status, text, body } = reply;
  // Where a query or a body names the repository, it is unknown to the other tenant: 400.
  const isOfRepository = 'repositoryIdentifier' in { ...example.query, ...(example.body as object) };
  if (route.params && !isOfRepository) expect(status).toBe(example.strangersStatus ?? 404);
  else if (status >= 400) expect(['invalid_request', 'not_found']).toContain(body.code);
  // A refusal repeats what the caller sent; beyond that, nothing of the other tenant may show.
  if (status < 400) for (const secret of examples.secrets()) expect(text).not.toContain(secret);
  expect(await trailLength()).toBe(before);
  expect(reference.violations(route, reply)).toEqual([]);
});

const trailLength = async () => {
  const [row] = await app.sql<{ entries: string }>('select count(*) as entries from audit_entry where tenant_id = ?', [
    app.tenant.id,
  ]);
  return Number(row?.entries);
};

const withIds = table.filter(([, route]) => /\{\w*[iI]d\}/.test(route.path));

test.each(withIds)('%s with ids that never were: 404', async (_, route) => {
  const example = await examples.of(route);
  const caller = app.as(callerOf(route, app));
  for (const id of [newId(), 'not-an-id', '1', `${newId()}0`]) {
    const params = Object.fromEntries(Object.keys(example.params ?? {}).map((name) => [name, id]));
    const reply = await caller.request(
      404,
      route.method.toUpperCase(),
      addressOf(route, { ...example, params }),
      optionsOf(example),
    );
    expect(reply.body.code).toBe('not_found');
    expect(reference.violations(route, reply)).toEqual([]);
  }
});
