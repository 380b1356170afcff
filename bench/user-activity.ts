import { parseArgs } from 'node:util';
import { sent } from '../test/simulators/host-hooks.ts';
import { pullRequestHook } from '../test/simulators/pull-request-hooks.ts';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures over HTTP how long it takes to show a person's pull requests of 50 projects with 10,000 in all, and until the
 * hook of a pull request is a row, at 50 hooks a second. Of 200 pull requests of a project seven are the person's and two
 * await its review; each has 12 files and a build. Options: `--rounds 3`, `--seconds 10` of each load, `--reads 100` of each round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    reads: { type: 'string', default: '100' },
  },
});
const PROJECTS = 50;
const PULL_REQUESTS = 10_000;
const HOOKS_PER_SECOND = 50;
const seconds = Number(options.seconds);

const service = await startService([]);
const { database } = service;

interface BenchProject {
  id: string;
  identifier: string;
  secret: string;
}

async function addProject(number: number): Promise<BenchProject> {
  const identifier = `acme/shop-${number}`;
  const { id } = await service.call<{ id: string }>('POST', '/api/projects', { identifier, platform: 'host-a' });
  const path = `/api/projects/${encodeURIComponent(identifier)}/hook-secret`;
  const { secret } = await service.call<{ secret: string }>('POST', path);
  return { id, identifier, secret };
}

/** In each project 200, of which every tenth is open and half ended within the last 14 days. */
async function seed(projects: readonly BenchProject[]): Promise<void> {
  await database.query(
    `insert into user_identity (provider, username, external_id, user_id)
     select 'host-a', 'dana', '1', id from user_account where email = 'owner@bench.example'`,
  );
  await database.query(
    `insert into pull_request (tenant_id, project_id, number, title, url, state, is_draft, author, author_key, branch,
       base_branch, head_sha, labels, requested, reviews, is_in_review, awaited, opened_at, ended_at, host_time,
       is_from_list, changed_at, files, packages, commits_ahead, commits_behind)
     select $1, p, n, 'Pull request ' || n, 'https://github.com/acme/shop/pull/' || n,
       case when n % 10 = 0 then 'open' when n % 10 = 1 then 'closed' else 'merged' end, n % 50 = 0,
       a.author, a.author, 'feature/' || n, 'main', md5(p::text || n) || '00000000',
       '[{"key": "bug", "color": "#d73a4a", "description": "Something"}]',
       jsonb_build_object('users', jsonb_build_array('erin'), 'teams', '[]'::jsonb), '{}', n % 10 = 0 and n % 50 <> 0,
       case when n % 100 = 50 then '{dana,erin}'::text[] else '{erin}' end,
       now() - make_interval(days => 30), case when n % 10 <> 0 then t.at end, t.at, true, t.at, f.files, '{app}', 3, 1
     from unnest($2::uuid[]) p, generate_series(1, $3::int) n,
       lateral (select case when n % 40 = 7 or n % 100 = 20 then 'dana' else 'author-' || (n % 200) end as author) a,
       lateral (select now() - make_interval(hours => n * 7 % 672) as at) t,
       (select jsonb_build_object('added', '[]'::jsonb, 'deleted', '[]'::jsonb, 'truncated', false, 'modified',
          jsonb_agg('packages/app/main/default/classes/Class' || i || '.cls')) as files from generate_series(1, 12) i) f`,
    [service.tenantId, projects.map(({ id }) => id), PULL_REQUESTS / PROJECTS],
  );
  await database.query(
    `insert into build_status (tenant_id, project_id, commit_sha, commit_date, state, ci_info)
     select tenant_id, project_id, head_sha, now(), 'succeeded', '{"service": "host-a", "name": "ci", "buildUrl": "https://ci.example/1",
       "buildNumber": "1", "job": "ci", "branch": "x", "isPr": true, "prNumber": 1}' from pull_request`,
  );
  await database.query('analyze pull_request, build_status, project');
}

/** Hooks of pull requests, the first of each new and the second a change of it. */
function hooksOf(projects: readonly BenchProject[], round: number): HttpLoad['requests'] {
  return Array.from({ length: HOOKS_PER_SECOND * seconds }, (_, index) => {
    const { identifier, secret } = projects[Math.floor(index / 2) % projects.length] as BenchProject;
    const hook = pullRequestHook('host-a', {
      repository: identifier,
      number: round * 1_000_000 + 1_000 + Math.floor(index / 2),
      title: index % 2 === 0 ? 'New' : 'Changed',
      openedAt: new Date(Date.now() - 60_000),
      at: new Date(Date.now() - 30_000 + (index % 2) * 5_000),
    });
    const { path, headers } = sent(hook, secret);
    return { method: 'POST', path, body: hook.body, headers: { ...headers, 'content-type': 'application/json' } };
  });
}

try {
  const projects: BenchProject[] = [];
  for (let number = 0; number < PROJECTS; number++) projects.push(await addProject(number));
  await seed(projects);
  const generator = await service.start('./http-load.ts');
  const all = '/api/users/me/activity';
  const named = `${all}?${new URLSearchParams({ repositoryIdentifier: projects.map(({ identifier }) => identifier).join(',') })}`;
  const read = (path: string, count: number) =>
    generate(generator, {
      url: service.url,
      token: service.ownerToken,
      connections: 1,
      requests: [{ method: 'GET', path }],
      count,
    });
  const figures = new Figures();
  await read(all, 30);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (const [name, path] of [
      ['all projects', all],
      ['50 projects by name', named],
    ] as const) {
      const cpu = service.measureCpu();
      const result = await read(path, Number(options.reads));
      figures.noteCpu(`activity, ${name}`, cpu(), Number(options.reads));
      if (unexpected(result, 200) > 0) throw new Error(`replies ${JSON.stringify(result.statuses)}`);
      figures.note(`activity, ${name}: p50`, quantile(result.latenciesMs, 0.5));
      figures.note(`activity, ${name}: p95`, quantile(result.latenciesMs, 0.95), 'ms', '<= 40');
    }
    const requests = hooksOf(projects, round);
    const hooks = await generate(generator, {
      url: service.url,
      token: '',
      connections: 20,
      requests,
      count: requests.length,
      perSecond: HOOKS_PER_SECOND,
    });
    const { rows } = await database.query<{ changed: number }>(
      `select count(*)::int as changed from pull_request where number >= $1 and title = 'Changed'`,
      [round * 1_000_000],
    );
    if (unexpected(hooks, 202) > 0 || rows[0]?.changed !== requests.length / 2)
      throw new Error(`replies ${JSON.stringify(hooks.statuses)}, rows ${rows[0]?.changed}`);
    figures.note('hook to row at 50/s: p50', quantile(hooks.latenciesMs, 0.5));
    figures.note('hook to row at 50/s: p95', quantile(hooks.latenciesMs, 0.95), 'ms', '<= 40');
  }
  figures.print();
} finally {
  await service.stop();
}
