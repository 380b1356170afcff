import { readHook } from '../../../../domain/ci/builds/host-events-rules.ts';

const SHA = '9fceb02d0ae598e95dc970b74767f19372d61af8';

test.each([
  ['https://dev.azure.com/acme/sales/_git/shop', 'acme/sales/shop'],
  ['https://acme@dev.azure.com/acme/sales/_git/shop', 'acme/sales/shop'],
  ['https://dev.azure.com/acme/_git/shop', 'acme/shop/shop'],
  ['https://acme.visualstudio.com/DefaultCollection/sales/_git/shop', 'acme/sales/shop'],
  ['https://acme.visualstudio.com/sales/_git/shop', 'acme/sales/shop'],
  ['https://dev.azure.com/acme/sales/_git/%E0%A4%A', 'acme/sales/%E0%A4%A'],
  ['javascript:alert(1)', null],
])('the repository of host-b at %s is %s', (remoteUrl, repositoryIdentifier) => {
  const body = { eventType: 'git.push', resource: { repository: { remoteUrl }, refUpdates: [] } };
  expect(readHook('host-b', body, '')).toMatchObject({ repositoryIdentifier, isPush: true, events: [] });
});

test('a build of host-b told in version 1.0 names ref and commit in one, and no repository', () => {
  const resource = {
    sourceGetVersion: `LG:refs/pull/7/merge:${SHA}`,
    status: 'partiallySucceeded',
    finishTime: '2026-03-02T09:30:00.1234567Z',
    buildNumber: '20260302.1',
    definition: { name: 'ci' },
  };
  const { repositoryIdentifier, events } = readHook('host-b', { eventType: 'build.complete', resource }, '');
  expect(repositoryIdentifier).toBeNull();
  expect(events).toMatchObject([
    {
      commitId: SHA,
      branch: null,
      isPr: true,
      prNumber: 7,
      state: 'failed',
      at: '2026-03-02T09:30:00.123Z',
      buildNumber: '20260302.1',
    },
  ]);
});

test.each([
  ['queued', null, 'pending'],
  ['in_progress', null, 'running'],
  ['completed', 'success', 'succeeded'],
  ['completed', 'skipped', 'succeeded'],
  ['completed', 'timed_out', 'failed'],
  ['completed', 'a word of tomorrow', 'failed'],
  ['completed', 'cancelled', 'cancelled'],
])('a workflow run of host-a that is %s, %s, is %s', (status, conclusion, state) => {
  const run = {
    head_sha: SHA.toUpperCase(),
    status,
    conclusion,
    event: 'pull_request',
    pull_requests: [{ number: 3 }],
    updated_at: '2026-03-02T09:30:00Z',
  };
  expect(readHook('host-a', { workflow_run: run }, 'workflow_run').events).toMatchObject([
    { commitId: SHA, context: 'workflow', state, isPr: true, prNumber: 3 },
  ]);
});

test('a pipeline of host-c for a tag or a merge request is of no branch', () => {
  const told = (attributes: object, more: object = {}) =>
    readHook(
      'host-c',
      { object_kind: 'pipeline', object_attributes: { sha: SHA, status: 'running', ...attributes }, ...more },
      '',
    ).events;
  expect(told({ ref: 'v1', tag: true })).toMatchObject([{ branch: null }]);
  expect(told({ ref: 'refs/merge-requests/4/head' }, { merge_request: { iid: 4 } })).toMatchObject([
    { branch: null, isPr: true, prNumber: 4 },
  ]);
  expect(told({ ref: 'main', tag: false })).toMatchObject([{ branch: 'main', isPr: false }]);
});

test.each([
  null,
  7,
  'text',
  [],
  {},
  { resource: null },
  { resource: { refUpdates: [null, 7, { name: [] }] } },
  { push: { changes: 'x' } },
  { object_attributes: [] },
])('%j is read as nothing', (body) => {
  const kinds = ['push', 'workflow_run', 'status'];
  for (const kind of kinds) expect(readHook('host-a', body, kind).events).toEqual([]);
  for (const eventType of ['git.push', 'build.complete'])
    expect(readHook('host-b', { ...(body as object), eventType }, '').events).toEqual([]);
  for (const kind of ['push', 'tag_push', 'pipeline'])
    expect(readHook('host-c', { ...(body as object), object_kind: kind }, '').events).toEqual([]);
});
