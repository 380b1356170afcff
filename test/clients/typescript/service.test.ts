import type * as QuaysideClient from '@quayside/client';
import { routes } from '../../../api/routes.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import type { Bearer } from '../../support/client.ts';
import { clientPackage } from '../../support/clients.ts';
import { engineAway } from '../../support/launch.ts';

let app: TestApp;
let quayside: typeof QuaysideClient;
beforeAll(async () => {
  quayside = await clientPackage();
  app = await testApp({ launch: engineAway });
});
afterAll(() => app.close());

const as = ({ token }: Bearer) => quayside.createClient({ url: app.url, ...(token !== undefined && { token }) });
const gather = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
};

test('can() says of every operation and role what the service does', () => {
  for (const { operationId, roles } of routes)
    for (const role of ['owner', 'member', 'application', undefined] as const) {
      const may = roles === 'public' || (role !== undefined && roles.includes(role));
      expect([operationId, role, quayside.can(operationId as QuaysideClient.OperationId, role)]).toEqual([
        operationId,
        role,
        may,
      ]);
    }
});

test('every operation of the service is a function of the package', () => {
  expect(routes.filter(({ operationId }) => !(operationId in quayside)).map(({ operationId }) => operationId)).toEqual(
    [],
  );
});

test('refusals of the service are values with codes and pointers', async () => {
  const client = as(app.owner);
  const wrong = await quayside.createProject({ client, body: { identifier: '' } as never });
  expect(wrong.error?.code).toBe('invalid_request');
  expect(wrong.error?.errors?.map(({ pointer }) => pointer)).toContain('#/body/identifier');
  expect((await quayside.getProject({ client, path: { identifier: 'no/such' } })).error?.code).toBe('not_found');
  expect((await quayside.listUsers({ client: as({}) })).error).toMatchObject({ code: 'unauthenticated', status: 401 });
  const may = await quayside.listApplicationTokens({ client: as(app.application) });
  expect(may.error?.code).toBe('forbidden');
  expect(quayside.can('listApplicationTokens', 'application')).toBe(false);
});

test('all pages of a list come, by offset, by cursor and by the last key', async () => {
  const client = as(app.owner);
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `paged/${name}`);
  for (const identifier of names)
    await quayside.dataOf(
      quayside.createProject({
        client,
        body: { identifier, platform: 'host-a', remoteUrl: `https://git.test/${identifier}` } as never,
      }),
    );
  const projects = await gather(quayside.items(quayside.listProjects, { client, query: { limit: 2 } }));
  expect(projects.map(({ identifier }) => identifier).toSorted()).toEqual(names);

  const users = await gather(quayside.items(quayside.listUsers, { client, query: { limit: 1 } }));
  expect(users.map((user) => (user as QuaysideClient.User).email).toSorted()).toEqual(
    [app.owner.email, app.member.email].toSorted(),
  );

  const collection = { collectionName: 'paged' };
  await quayside.dataOf(quayside.createCollection({ client, body: { name: 'paged' } }));
  for (const key of ['a', 'b', 'c', 'd', 'e'])
    await quayside.dataOf(quayside.saveDocument({ client, path: { ...collection, key }, body: { value: { key } } }));
  const listed = await gather(
    quayside.items(quayside.listDocuments, { client, path: collection, query: { limit: 2 } as never }),
  );
  expect(listed).toHaveLength(5);
  const queried = await gather(
    quayside.items(quayside.queryCollection, { client, path: collection, body: { limit: 2 } as never }),
  );
  expect(queried).toHaveLength(5);
});
