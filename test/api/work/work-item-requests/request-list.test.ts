import { type TestApp, testApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import { REQUESTS, requestsOf } from '../../../support/work-item-requests.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const keysOf = ({ items }: { items: { workItemKey: string }[] }) => items.map(({ workItemKey }) => workItemKey);

test('requests are listed newest first, by any filters, with how many there are', async () => {
  const { projectIdentifier, callback, list } = await requestsOf(app);
  await callback('started', { workItemKey: '1', taskType: 'build', releaseCandidate: 'sales:1' });
  await callback('completed', { workItemKey: '2', taskType: 'build', releaseCandidate: 'sales:2' });
  await callback('failed', { workItemKey: '3', taskType: 'analyze' });
  await callback('completed', { workItemKey: 'SHOP-4', platform: 'tracker-a' }, { as: app.owner });
  await app.sql(`update work_item_request set created_at = created_at - interval '2 days' where work_item_key = '1'`);
  const today = new Date(Date.now() - 86_400_000).toISOString();
  const twoYearsAgo = '2024-01-01';
  const cases: [Record<string, string>, string[]][] = [
    [{}, ['SHOP-4', '3', '2', '1']],
    [{ status: 'completed' }, ['SHOP-4', '2']],
    [{ status: 'completed,failed' }, ['SHOP-4', '3', '2']],
    [{ status: 'in_progress, closed' }, ['1']],
    [{ platform: 'tracker-a' }, ['SHOP-4']],
    [{ taskType: 'build' }, ['2', '1']],
    [{ taskType: 'build', status: 'completed' }, ['2']],
    [{ releaseCandidate: 'sales:1' }, ['1']],
    [{ repositoryIdentifier: projectIdentifier, status: 'failed' }, ['3']],
    [{ createdBy: app.owner.email }, ['SHOP-4']],
    [{ createdBy: app.owner.email, status: 'failed' }, []],
    [{ since: today }, ['SHOP-4', '3', '2']],
    [{ since: today, status: 'completed' }, ['SHOP-4', '2']],
    [{ since: today, createdBy: app.owner.email }, ['SHOP-4']],
    [{ since: twoYearsAgo }, ['SHOP-4', '3', '2', '1']],
    [{ since: twoYearsAgo, platform: 'host-a' }, ['3', '2', '1']],
    [{ since: '2999-01-01' }, []],
  ];
  for (const [query, keys] of cases) {
    const found = await list(query);
    expect({ query, keys: keysOf(found), total: found.total }).toEqual({ query, keys, total: keys.length });
  }
  expect((await list()).items[0]).not.toHaveProperty('history');
});

test('pages have links, and words that are no status are refused', async () => {
  const { projectIdentifier, callback } = await requestsOf(app);
  for (const workItemKey of ['1', '2', '3']) await callback('started', { workItemKey });
  const owner = app.as(app.owner);
  const path = `${REQUESTS}?${new URLSearchParams({ projectIdentifier, limit: '2' })}`;
  const first = await owner.request(200, 'GET', path);
  expect(first.body).toMatchObject({ total: 3, limit: 2, offset: 0 });
  expect(keysOf(first.body)).toEqual(['3', '2']);
  expect(first.headers.get('link')).toContain('rel="next"');
  expect(keysOf(await owner.get(200, `${path}&offset=2&status=in_progress,failed`))).toEqual(['1']);
  expect(await owner.get(200, `${path}&offset=5`)).toMatchObject({ items: [], total: 3 });
  for (const query of ['status=done', 'status=', 'platform=host-c', 'limit=0', 'limit=201', 'since=yesterday', 'x=1'])
    await owner.get(400, `${path}&${query}`);
  expect(await owner.get(400, `${path}&repositoryIdentifier=acme%2Funknown`)).toMatchObject({
    errors: [{ pointer: '#/query/repositoryIdentifier' }],
  });
  expect(await owner.get(200, REQUESTS)).toMatchObject({ limit: 50, offset: 0 });
});

test('the counts that are kept are those of the rows', async () => {
  const { projectIdentifier, callback } = await requestsOf(app);
  await callback('started', { taskType: 'build' });
  await callback('completed', {});
  await callback('started', { workItemKey: '5' });
  const tallies = await app.sql(
    `select t.status, t.task_type, t.requests::int from work_item_request_tally t join project p on p.id = t.project_id
     where p.identifier = ? and t.requests <> 0 order by 1, 2`,
    [projectIdentifier],
  );
  expect(tallies).toEqual([
    { status: 'completed', task_type: 'build', requests: 1 },
    { status: 'in_progress', task_type: '', requests: 1 },
  ]);
  const counts = await app.sql(
    `select c.kind, c.status, c.requests::int from work_item_request_count c join project p on p.id = c.project_id
     where p.identifier = ? and c.requests <> 0 order by 1, 2`,
    [projectIdentifier],
  );
  expect(counts).toEqual(
    ['creator', 'month'].flatMap((kind) => [
      { kind, status: 'completed', requests: 1 },
      { kind, status: 'in_progress', requests: 1 },
    ]),
  );
  await app.as(app.owner).delete(204, `/api/projects/${encodeURIComponent(projectIdentifier)}`);
});

test('totals by creator and time are those of the rows, in the month of the time and after it', async () => {
  const { callback, list } = await requestsOf(app);
  const moments = ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z', '2026-02-10T12:00:00Z', '2026-04-01T00:00:00Z'];
  for (const [n, moment] of moments.entries()) {
    await callback(n % 2 ? 'failed' : 'completed', { workItemKey: `${n + 1}` });
    const [made] = (await list()).items;
    await app.sql('update work_item_request set created_at = ? where id = ?', [moment, made.id]);
  }
  const [{ createdBy }] = (await list()).items;
  const total = async (query: Record<string, string>): Promise<number> => (await list(query)).total;
  const since = '2026-02-05T00:00:00Z';
  expect(await total({ createdBy })).toBe(4);
  expect(await total({ createdBy, status: 'failed' })).toBe(2);
  expect(await total({ createdBy: 'nobody@example.com', status: 'failed' })).toBe(0);
  expect(await total({ since })).toBe(2);
  expect(await total({ since, status: 'failed,completed' })).toBe(2);
  expect(await total({ since, status: 'failed' })).toBe(1);
  expect(await total({ since: '2026-02-01T00:00:00Z', status: 'failed' })).toBe(2);
  expect(await total({ since: '2026-01-31T23:59:59Z' })).toBe(4);
  expect(await total({ since, createdBy, status: 'completed' })).toBe(1);
  expect(await total({ since, taskType: 'none' })).toBe(0);
});
