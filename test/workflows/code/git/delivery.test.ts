import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import { releaseStage } from '../../../support/release-stage.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

const stage = (configuration: object = {}) => releaseStage(app, configuration);

test('a work item is told with its commits, and by domain with the candidates and environments that have it', async () => {
  const domains = [
    { name: 'core', packages: ['app'] },
    { name: 'ui', packages: ['lib'] },
  ];
  const { cut, deploy, get, project, remote } = await stage({ domains });
  await cut('r1', { app: '1.0.0' });
  const { id } = await cut('r2', { app: '1.1.0', lib: '1.0.0' }, { message: 'SHOP-7: both sides (#9)' });
  const both = remote.git(['rev-parse', 'main']);
  await cut('u1', { lib: '1.1.0' }, { domain: 'ui', message: 'Nothing of it' });
  // A branch that was squashed names it, too, and does not count.
  const squashed = remote.commit({
    branch: 'feature',
    from: remote.git(['rev-parse', 'main~1']),
    files: { 'app/b': '1' },
    message: 'SHOP-7: on the way',
  });
  await project.fetch();
  const days = ['2026-01-01T10:00:00.000Z', '2026-01-02T10:00:00.000Z', '2026-01-03T10:00:00.000Z'];
  await deploy('r1', 'prod', { deployedAt: days[0] });
  await deploy('r2', 'uat', { deployedAt: days[1], packages: { app: '1.1.0' } });

  const item = await get('/api/releases/work-items/SHOP-7');
  expect(item).toMatchObject({
    key: 'SHOP-7',
    totalCommits: 2,
    isTruncated: false,
    pullRequests: [9],
    commits: [
      { sha: squashed, isReleasable: false, packages: [] },
      { sha: both, isReleasable: true, packages: ['app', 'lib'] },
    ],
    missingDomains: ['core', 'ui'],
    packagesWithoutDomain: [],
    repository: { isStale: false },
  });
  expect(item.domains).toMatchObject([
    {
      domain: 'core',
      packages: ['app'],
      candidates: [{ id, releaseName: 'r2', presence: 'all', present: 1, total: 1, isNew: true }],
      environments: [
        { name: 'uat', presence: 'all', firstArrivedAt: days[1], arrivedAt: days[1], releaseName: 'r2' },
        { name: 'prod', presence: 'none', firstArrivedAt: null, arrivedAt: null, releaseName: null },
      ],
      missingFromEnvironments: ['prod'],
    },
    {
      domain: 'ui',
      packages: ['lib'],
      candidates: [{ releaseName: 'u1', presence: 'all' }],
      missingFromEnvironments: ['uat', 'prod'],
    },
  ]);

  await deploy('r2', 'prod', { deployedAt: days[2] });
  const now = await get('/api/releases/work-items/SHOP-7');
  expect(now.missingDomains).toEqual(['ui']);
  expect(now.domains[0].environments[1]).toMatchObject({ presence: 'all', arrivedAt: days[2], releaseName: 'r2' });
  await expect(get('/api/releases/work-items/SHOP-4711')).resolves.toMatchObject({
    commits: [],
    domains: [],
    missingDomains: [],
  });
});

test('measures of delivery come from deployments and the commits that came with them', async () => {
  const { cut, deploy, get, remote } = await stage();
  await cut('r1', { app: '1.0.0' });
  await deploy('r1', 'prod', { deployedAt: '2026-03-02T10:00:00.000Z' });
  await cut('r2', { app: '1.1.0' });
  const committed = Number(remote.git(['log', '-1', '--format=%ct', 'main']));
  await deploy('r2', 'prod', {
    deployedAt: '2026-03-03T10:00:00.000Z',
    deploymentStatus: 'Failed',
    executionId: 'first',
  });
  await deploy('r2', 'prod', { deployedAt: '2026-03-03T11:00:00.000Z', executionId: 'second' });
  const range = { since: '2026-03-02T00:00:00Z', until: '2026-03-04T00:00:00Z' };
  const { domains, ...rest } = await get('/api/releases/metrics', { ...range, window: 'day' });
  expect(rest).toMatchObject({ filters: { window: 'day', since: '2026-03-02T00:00:00.000Z' }, missingChangelogs: 0 });
  const leadTime = Date.parse('2026-03-03T11:00:00Z') / 1_000 - committed;
  const second = {
    deployments: { successful: 1, failed: 1, rolledBack: 0, perDay: 1 },
    leadTime: { medianSeconds: leadTime, p90Seconds: leadTime, commits: 1 },
    changeFailureRate: 0.5,
    timeToRestore: { medianSeconds: 3_600, failures: 1, restored: 1 },
  };
  expect(domains).toMatchObject([
    {
      domain: 'core',
      environments: [
        {
          name: 'prod',
          category: 'release',
          total: {
            deployments: { successful: 2, failed: 1, perDay: 1 },
            leadTime: { commits: 1 },
            changeFailureRate: 0.3333,
          },
          windows: [
            { from: '2026-03-02T00:00:00.000Z', leadTime: { commits: 0, medianSeconds: null }, changeFailureRate: 0 },
            second,
          ],
        },
      ],
    },
  ]);
  // What was there before the time that is asked for is what the first deployment in it is held against.
  const later = await get('/api/releases/metrics', {
    ...range,
    since: '2026-03-03T00:00:00Z',
    window: 'all',
    domain: 'core',
    environmentName: 'prod',
  });
  expect(later.domains[0].environments[0].total).toEqual(second);
  await expect(get('/api/releases/metrics', { environmentName: 'uat' })).resolves.toMatchObject({ domains: [] });
});

test('release notes tell a release against the one before it, as JSON, Markdown and HTML', async () => {
  const { cut, deploy, get, query } = await stage({
    workItems: { workItemFilters: ['SHOP-\\d+'], baseUrl: 'https://tracker.example.com/browse/' },
  });
  await cut('r1', { app: '1.0.0' });
  await deploy('r1', 'uat');
  const subject = 'SHOP-8: # <b>bold</b> [x](javascript:alert(1)) `code` (#4)';
  await cut('r2', { app: '1.1.0' }, { message: subject });
  // Not deployed yet: against what is.
  await expect(get('/api/releases/r2/notes')).resolves.toMatchObject({
    domains: [{ previousReleaseName: 'r1', deployments: [] }],
  });
  await deploy('r2', 'uat');
  await cut('r3', { app: '1.2.0' });
  const notes = await get('/api/releases/r2/notes', { domain: 'core' });
  expect(notes).toMatchObject({
    releaseName: 'r2',
    domains: [
      {
        domain: 'core',
        previousReleaseName: 'r1',
        deployments: [{ environment: 'uat', isRolledBack: false }],
        workItems: [{ key: 'SHOP-8', url: 'https://tracker.example.com/browse/SHOP-8' }],
        pullRequests: [4],
        packages: [
          {
            packageName: 'app',
            direction: 'upgrade',
            fromVersion: '1.0.0',
            toVersion: '1.1.0',
            commits: [{ message: subject }],
          },
        ],
      },
    ],
  });
  const since = await get('/api/releases/r3/notes', { fromReleaseName: 'r1' });
  expect(since.domains[0].packages[0].totalCommits).toBe(2);
  const member = app.as(app.member);
  const markdown = await member.send('GET', `/api/releases/r2/notes?${query({ format: 'md' })}`);
  expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  expect(markdown.text).toContain('[SHOP-8](<https://tracker.example.com/browse/SHOP-8>) (1 commit)');
  expect(markdown.text).toContain('SHOP-8: \\# \\<b\\>bold\\</b\\> \\[x\\](javascript:alert(1)) \\`code\\` (\\#4)');
  const html = await member.send('GET', `/api/releases/r2/notes?${query({ format: 'html' })}`);
  expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(html.text).toContain('SHOP-8: # &lt;b&gt;bold&lt;/b&gt;');
  await member.get(404, `/api/releases/none/notes?${query({})}`);
  await member.get(404, `/api/releases/r2/notes?${query({ fromReleaseName: 'none' })}`);
});
