import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeMade } from '../../tools/demo/cleanup.ts';
import { type DemoClient, demoClient } from '../../tools/demo/client.ts';
import { demoJournal, earlierJournals } from '../../tools/demo/journal.ts';
import { newTemporaryFolder, noteTemporaryFolders } from '../../tools/demo/temporary-folders.ts';
import { testApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let dataDir: string;
beforeAll(async () => {
  app = await testApp();
  dataDir = mkdtempSync(join(tmpdir(), 'quayside-demo-test-'));
});
afterAll(async () => {
  await app.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const ownerOf = ({ owner: { email, password } }: TestApp) => ({ email, password });
const identifier = 'demo/cleaned';
const COLLECTION = 'manifests/demo/cleaned:main';

/** What demos leave when they end, or are killed: a project, and what hangs on receivers and hosts that have ended. */
async function makeThings(api: DemoClient): Promise<void> {
  await api.post('/api/projects', { identifier, platform: 'host-a' });
  await api.post('/api/integrations', {
    kind: 'host-a',
    name: 'No git host',
    repositoryIdentifier: identifier,
    baseUrl: 'http://127.0.0.1:9',
    credentials: { type: 'token', token: 'none' },
  });
  await api.post('/api/webhooks', { name: 'demo', event: 'release.published', config: { url: 'http://127.0.0.1:9/' } });
  await api.post('/api/mocks/workspaces/rehearsal-a1/scenarios', { name: 'release', upstream: 'http://127.0.0.1:9' });
  const pool = await api.post('/api/review/pools', {
    repositoryIdentifier: identifier,
    tag: 'review',
    type: 'SCRATCH_ORG',
  });
  await api.post(`/api/review/pools/${pool.id as string}/instances`, { username: 'first@demo.example.com' });
  await api.post('/api/review/assignments', {
    repositoryIdentifier: identifier,
    branch: 'feature/a',
    assignmentType: 'pr',
    assignmentId: '118',
    poolTag: 'review',
  });
  await api.post('/api/application-tokens', { name: 'demo-pipeline', projects: [identifier] });
  await api.post('/api/doc-store/bulk?store=packages', {
    documents: [{ collection: COLLECTION, key: 'HarbourCore', value: {} }],
  });
}

/** How many there are of each. */
async function left() {
  const owner = app.as(app.owner);
  const [projects, integrations, webhooks, pools, tokens, collections, scenarios] = await Promise.all([
    owner.get(200, '/api/projects'),
    owner.get(200, '/api/integrations'),
    owner.get(200, '/api/webhooks'),
    owner.get(200, '/api/review/pools'),
    owner.get(200, '/api/application-tokens'),
    owner.get(200, '/api/doc-store/collections'),
    owner.get(200, '/api/mocks/workspaces/rehearsal-a1/scenarios'),
  ]);
  const countOf = (list: unknown) => (Array.isArray(list) ? list : (list as { items: unknown[] }).items).length;
  return {
    projects: countOf(projects),
    integrations: countOf(integrations),
    webhooks: countOf(webhooks),
    pools: countOf(pools),
    tokens: countOf(tokens),
    collections: countOf(collections),
    scenarios: countOf(scenarios),
  };
}

test('a demo leaves nothing that would stay broken, and the next one with --clean removes the rest', async () => {
  const before = await left();
  const journal = demoJournal(dataDir, 'a1', app.url);
  const api = await demoClient(app.url, ownerOf(app), journal);
  noteTemporaryFolders((path) => journal.note({ folder: path, stays: true }));
  const folder = newTemporaryFolder();
  await makeThings(api);
  expect((await left()).webhooks).toBe(before.webhooks + 1);

  await expect(removeMade(api, journal, 'broken')).resolves.toEqual([]);
  await expect(left()).resolves.toEqual({
    ...before,
    projects: before.projects + 1,
    collections: before.collections + 1,
  });
  expect(existsSync(folder)).toBe(true);

  const [earlier, ...others] = earlierJournals(dataDir, app.url);
  expect(others).toEqual([]);
  if (!earlier) throw new Error('nothing was noted');
  await expect(removeMade(api, earlier, 'all')).resolves.toEqual([]);
  await expect(left()).resolves.toEqual(before);
  expect(existsSync(folder)).toBe(false);
  expect(earlierJournals(dataDir, app.url)).toEqual([]);
});

test('what somebody else removed, and what ran elsewhere, is passed over', async () => {
  const journal = demoJournal(dataDir, 'b2', app.url);
  const api = await demoClient(app.url, ownerOf(app), journal);
  const webhook = await api.post('/api/webhooks', {
    name: 'demo',
    event: 'release.published',
    config: { url: 'http://127.0.0.1:9/' },
  });
  await app.as(app.owner).delete(204, `/api/webhooks/${webhook.id as string}`);
  expect(earlierJournals(dataDir, 'http://127.0.0.1:1')).toEqual([]);
  await expect(removeMade(api, journal, 'broken')).resolves.toEqual([]);
  expect(journal.made()).toEqual([]);
});
