import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { TestApp } from '../../../support/app.ts';
import type { ApiClient } from '../../../support/client.ts';
import {
  classFile,
  classOf,
  type ExploredOrg,
  exploredOrg,
  EXPLORER,
  INTERNAL,
  queryOf,
  reported,
  sha,
  syncReported,
  withExplorer,
} from '../../../support/explorer.ts';

let crm: CrmSimulator;
let app: TestApp;
let owner: ApiClient;
let worker: ApiClient;
withExplorer((started) => {
  ({ crm, app, owner, reporter: worker } = started);
});

const report = (explored: ExploredOrg, ...components: object[]) => reported(worker, explored, ...components);
const read = (status: number, { place }: ExploredOrg, memberName: string, metadataType = 'ApexClass') =>
  owner.get(status, `${EXPLORER}/components${queryOf({ ...place, metadataType, memberName })}`);
const filesOf = async (explored: ExploredOrg, name: string) => (await read(200, explored, name)).data.files;
const sync = (explored: ExploredOrg, more: object = {}) => syncReported(worker, explored, more);
const names = async ({ orgUsername }: ExploredOrg, more: object = {}) =>
  (await owner.get(200, `${EXPLORER}/components/list${queryOf({ orgUsername, ...more })}`)).data.items.map(
    ({ memberName }: { memberName: string }) => memberName,
  );

test('a sync of a worker whose clock is ahead removes nothing that it reported', async () => {
  const org = await exploredOrg(app, crm);
  await report(org, classOf('A', classFile('A', 'class A {}')));
  await sync(org, { syncedAt: new Date(Date.now() + 5 * 60_000).toISOString(), duration: 60_000 });
  expect(await names(org)).toEqual(['A']);
});

test('a report replaces the files of a component; Deleted removes one, and a Failed one keeps what was there', async () => {
  const org = await exploredOrg(app, crm);
  const meta = { ...classFile('A', '<x/>'), fileName: 'classes/A.cls-meta.xml' };
  await report(org, classOf('A', classFile('A', 'class A {}'), meta));
  expect(await read(200, org, 'A')).toMatchObject({
    status: 'available',
    jobId: null,
    data: {
      metadataType: 'ApexClass',
      memberName: 'A',
      files: [
        {
          fileName: 'classes/A.cls',
          state: 'Created',
          fileContent: 'class A {}',
          encoding: 'utf8',
          sha256: sha('class A {}'),
          sizeBytes: 10,
          downloadUrl: null,
        },
        { fileName: 'classes/A.cls-meta.xml' },
      ],
    },
  });
  await report(
    org,
    classOf('A', { ...classFile('A', null, 'Failed') }, { ...meta, state: 'Deleted', fileContent: null }),
  );
  expect(await filesOf(org, 'A')).toMatchObject([
    { fileName: 'classes/A.cls', state: 'Failed', fileContent: 'class A {}' },
  ]);
  await worker.post(204, `${INTERNAL}/components`, {
    orgUsername: org.orgUsername,
    ...classOf('A', classFile('A', Buffer.from([0xff, 0, 1]).toString('base64'), 'Changed')),
    sourceData: [{ ...classFile('A', Buffer.from([0xff, 0, 1]).toString('base64'), 'Changed'), encoding: 'base64' }],
  });
  expect(await filesOf(org, 'A')).toMatchObject([{ fileContent: '/wAB', encoding: 'base64', sizeBytes: 3 }]);
  await report(org, classOf('A', { ...classFile('A', null, 'Deleted') }));
  expect(await names(org)).toEqual([]);
});

test('after a sync, components of its types that nobody reported are gone, except of failed types; drift is noted', async () => {
  const org = await exploredOrg(app, crm);
  const trigger = { metadataType: 'ApexTrigger', memberName: 'T', sourceData: [] };
  await report(org, classOf('Old', classFile('Old', '1')), classOf('Kept', classFile('Kept', '1')), trigger);
  await sync(org, { typeNames: ['ApexClass', 'ApexTrigger'], duration: 60_000 });
  const since = new Date();
  await report(org, classOf('Kept', classFile('Kept', '2')), classOf('New', classFile('New', '1')));
  await sync(org, {
    typeNames: ['ApexClass', 'ApexTrigger'],
    duration: Date.now() - since.getTime(),
    failedTypes: ['ApexTrigger'],
  });
  expect(await names(org)).toEqual(['Kept', 'New', 'T']);
  const { items } = await owner.get(200, `${EXPLORER}/changes${queryOf({ orgUsername: org.orgUsername })}`);
  expect(items.map(({ memberName, change }: { memberName: string; change: string }) => [memberName, change])).toEqual([
    ['Old', 'deleted'],
    ['New', 'created'],
    ['Kept', 'changed'],
  ]);
  expect(await owner.get(200, `${EXPLORER}/metadata${queryOf(org.place)}`)).toMatchObject({
    status: 'available',
    data: {
      types: [
        { metadataType: 'ApexClass', count: 2, error: null },
        { metadataType: 'ApexTrigger', count: 1, error: 'The worker could not read it' },
      ],
      lastSync: {
        status: 'succeeded',
        source: 'ingest',
        componentsCount: 1,
        failedTypes: [{ metadataType: 'ApexTrigger' }],
      },
    },
  });
  await read(404, org, 'Old');
});

test('contents that were stored before are named by their key; any other key is refused', async () => {
  const org = await exploredOrg(app, crm);
  const content = Buffer.alloc(1_500_000, 'x');
  const put = (path: string, rawBody: Buffer | string, client = worker) =>
    client.send('PUT', `${INTERNAL}/contents/${path}`, {
      rawBody: rawBody.toString(),
      headers: { 'content-type': 'application/octet-stream' },
    });
  const { status, body } = await put(sha(content), content);
  expect([status, body]).toEqual([200, { objectKey: expect.stringContaining(app.tenant.id), sizeBytes: 1_500_000 }]);
  expect((await put(sha('other'), content)).status).toBe(400);
  expect((await put('ABC', content)).status).toBe(404);
  const foreign = await put(sha('theirs'), 'theirs', app.as(app.strangerApplication));
  expect(foreign.status).toBe(200);

  const file = {
    fileName: 'staticresources/big.resource',
    fullName: 'big',
    type: 'StaticResource',
    state: 'Created',
    objectKey: body.objectKey,
    contentType: 'text/plain',
    sizeBytes: 1_500_000,
    sha256: sha(content),
    fetchedAt: '2026-03-02T09:30:00.000Z',
  };
  const manifest = (expected: number, more: object) =>
    worker.post(expected, `${INTERNAL}/components/manifest-batch`, {
      orgUsername: org.orgUsername,
      components: [{ metadataType: 'StaticResource', memberName: 'big', sourceData: [{ ...file, ...more }] }],
    });
  await manifest(204, {});
  const { data } = await read(200, org, 'big', 'StaticResource');
  expect(data.files).toMatchObject([
    {
      fileContent: null,
      encoding: null,
      sizeBytes: 1_500_000,
      fetchedAt: '2026-03-02T09:30:00.000Z',
      downloadUrl: expect.any(String),
    },
  ]);
  const { pathname, search } = new URL(data.files[0].downloadUrl);
  const downloaded = await app.as().request(200, 'GET', pathname + search);
  expect(downloaded.text.length).toBe(1_500_000);

  for (const more of [
    { objectKey: foreign.body.objectKey, sha256: sha('theirs'), sizeBytes: 6 },
    { objectKey: `${app.tenant.id}/org-contents/${sha('theirs')}`, sha256: sha('theirs'), sizeBytes: 6 },
    { objectKey: `${app.tenant.id}/org-contents/../audit-exports/x` },
    { sizeBytes: 7 },
    { sha256: sha('theirs') },
    { objectKey: null },
  ]) {
    const problem = await manifest(400, more);
    expect(problem.errors[0].pointer).toBe('#/body/components/0/sourceData/0/objectKey');
  }
});

test('what is reported must make sense, and come from an application', async () => {
  const org = await exploredOrg(app, crm);
  const batch = (status: number, components: object[], orgUsername = org.orgUsername) =>
    worker.post(status, `${INTERNAL}/components/batch`, { orgUsername, components });
  await batch(400, [classOf('A', classFile('A', null))]);
  await batch(400, [classOf('A', classFile('A', '', 'Moved'))]);
  await batch(400, [], 'nobody@acme.example');
  await batch(
    400,
    Array.from({ length: 1_001 }, (_, index) => classOf(`A${index}`)),
  );
  await worker.post(400, `${INTERNAL}/metadata-sync`, { orgUsername: org.orgUsername });
  await owner.post(403, `${INTERNAL}/components/batch`, { orgUsername: org.orgUsername, components: [] });
});

test('the list is paged by type and name, and searched by the beginning of names', async () => {
  const org = await exploredOrg(app, crm);
  const some = ['b_', 'B%', 'a', 'B"x', "b'y", 'c\\d'].map((name) => classOf(name, classFile(name, name)));
  await report(org, ...some, { metadataType: 'ApexTrigger', memberName: 'bT', sourceData: [] });
  await sync(org, { duration: 60_000 });
  const { text, headers } = await owner.request(
    200,
    'GET',
    `${EXPLORER}/components/list${queryOf({ orgUsername: org.orgUsername, limit: 3 })}`,
  );
  expect(JSON.parse(text).data.total).toBe(7);
  expect(JSON.parse(text).data.items.map(({ memberName }: { memberName: string }) => memberName)).toEqual([
    'B"x',
    'B%',
    'a',
  ]);
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
  const second = await owner.get(200, next);
  expect(second.data.items.map(({ memberName }: { memberName: string }) => memberName)).toEqual(["b'y", 'b_', 'c\\d']);
  expect(await names(org, { search: 'b' })).toEqual(['B"x', 'B%', "b'y", 'b_', 'bT']);
  expect(await names(org, { search: 'B%' })).toEqual(['B%']);
  expect(await names(org, { search: 'b', metadataType: 'ApexTrigger' })).toEqual(['bT']);
  await owner.get(400, `${EXPLORER}/components/list${queryOf({ orgUsername: org.orgUsername, cursor: 'x' })}`);
});

test('two orgs are compared by their files, and what no manifest has is listed', async () => {
  const [left, right] = [await exploredOrg(app, crm), await exploredOrg(app, crm)];
  const same = classOf('Same', classFile('Same', '1'));
  await report(left, same, classOf('Other', classFile('Other', '1')), classOf('Left', classFile('Left', '1')));
  await report(right, same, classOf('Other', classFile('Other', '2')));
  for (const org of [left, right]) await sync(org, { duration: 60_000 });
  const query = queryOf({ left: left.orgUsername, right: right.orgUsername });
  const { items } = await owner.get(200, `${EXPLORER}/compare${query}`);
  expect(items).toMatchObject([
    { memberName: 'Left', difference: 'left_only', right: null },
    { memberName: 'Other', difference: 'different' },
  ]);
  const unpackaged = queryOf({ ...left.place, branch: 'main' });
  await owner.get(404, `${EXPLORER}/unpackaged${unpackaged}`);
  await owner.post(
    201,
    `/api/doc-store/collections/${encodeURIComponent(`manifests/${left.repositoryIdentifier}:main`)}/docs/core?store=packages`,
    { value: { payload: { Package: { types: { name: 'ApexClass', members: ['Same', 'Left'] } } } } },
  );
  expect(await owner.get(200, `${EXPLORER}/unpackaged${unpackaged}`)).toMatchObject({
    packages: 1,
    items: [{ metadataType: 'ApexClass', memberName: 'Other' }],
  });
});

test('only a repository that uses the org reads it; nothing is revealed of others', async () => {
  const [org, other] = [await exploredOrg(app, crm), await exploredOrg(app, crm)];
  await report(org, classOf('A', classFile('A', '1')));
  const place = { ...org.place, repositoryIdentifier: other.repositoryIdentifier };
  await owner.get(404, `${EXPLORER}/metadata${queryOf(place)}`);
  await owner.post(404, `${EXPLORER}/metadata/refresh`, place);
  await owner.post(400, `${EXPLORER}/metadata/refresh`, { ...place, repositoryIdentifier: 'acme/none' });
  await app.as(app.stranger).get(404, `${EXPLORER}/components/list${queryOf({ orgUsername: org.orgUsername })}`);
  const { token } = await owner.post(201, '/api/application-tokens', {
    name: 'limited',
    projects: [other.repositoryIdentifier],
  });
  const limited = app.as({ token });
  await limited.get(404, `${EXPLORER}/components/list${queryOf({ orgUsername: org.orgUsername })}`);
  await limited.post(400, `${INTERNAL}/components/batch`, { orgUsername: org.orgUsername, components: [] });
  await limited.post(204, `${INTERNAL}/components/batch`, {
    orgUsername: other.orgUsername,
    components: [classOf('B', classFile('B', '1'))],
  });
  expect(
    (await limited.get(200, `${EXPLORER}/components/list${queryOf({ orgUsername: other.orgUsername })}`)).data.total,
  ).toBe(1);
});

test('nothing kept starts one refresh, whoever asks, also while the engine is away', async () => {
  const org = await exploredOrg(app, crm);
  const first = await read(200, org, 'A');
  expect(first).toMatchObject({ status: 'pending', data: null, jobId: expect.any(String) });
  const list = await owner.get(200, `${EXPLORER}/components/list${queryOf({ orgUsername: org.orgUsername })}`);
  const asked = await app
    .as(app.member)
    .post(202, `${EXPLORER}/metadata/refresh`, { ...org.place, metadataTypes: ['Flow'] });
  expect([list.jobId, asked.jobId]).toEqual([first.jobId, first.jobId]);
  const requested = await app.sql('select metadata_types from org_sync where id = ?', [first.jobId]);
  expect(requested).toEqual([{ metadata_types: null }]);
});
