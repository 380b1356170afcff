import { randomBytes } from 'node:crypto';
import type { TestApp } from './app.ts';

/** Commits of a project's main branch as a fetch would have imported them, one after the other; answers their ids. */
export async function importCommits(app: TestApp, projectId: string, count = 1): Promise<string[]> {
  const shas = Array.from({ length: count }, () => randomBytes(20).toString('hex'));
  const place = [app.tenant.id, projectId];
  await app.sql(
    `insert into git_mirror (tenant_id, project_id, fetched_at, commits, revision) values (?, ?, now(), ?, 1)`,
    [...place, count],
  );
  await app.sql(
    `insert into git_commit (tenant_id, project_id, seq, sha, parents, author_name, author_email, authored_at, committed_at, subject, body, work_items, pull_requests)
     select ?, ?, n - 1, sha, case when n = 1 then '{}' else array[n::int - 2] end, 'Dana', 'dana@example.com', at, at, 'Commit ' || n, '', '{}', '{}'
     from jsonb_array_elements_text(?::jsonb) with ordinality as given (sha, n), lateral (select timestamptz '2026-01-01' + n * interval '1 minute') as moment (at)`,
    [...place, JSON.stringify(shas)],
  );
  await app.sql(`insert into git_ref (tenant_id, project_id, kind, name, sha) values (?, ?, 'branch', 'main', ?)`, [
    ...place,
    shas.at(-1),
  ]);
  return shas;
}
