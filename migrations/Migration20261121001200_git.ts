import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, SYSTEM_ROLE, openToSystem } from './fences.ts';

const OF_PROJECT = `
  tenant_id uuid not null,
  project_id uuid not null,
  foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade`;

/** What is known of the repositories of projects: their mirrors, commits, packages and the changes of these. */
export class Git extends Migration {
  override up(): void {
    // Moments that are compared with now() are not rounded.
    this.addTable(
      'git_mirror',
      `
      requested_at timestamptz not null default now(),
      attempted_at timestamptz,
      next_fetch_at timestamptz not null default now(),
      fetched_at timestamptz(3),
      failures int not null default 0,
      error text,
      commits int not null default 0,
      revision bigint not null default 0,
      work_items_epoch int not null default 0,
      packages_from text not null default 'none' check (packages_from in ('manifest', 'setting', 'none')),
      work_item_filters jsonb not null default '[]',
      primary key (tenant_id, project_id)`,
    );
    this.addSql(`
      create index git_mirror_due on git_mirror (next_fetch_at);
      ${openToSystem('git_mirror', ['select'])}
      grant select (remote_url) on project to ${SYSTEM_ROLE}`);

    // Numbered by import, parents before children; a number never changes its meaning.
    this.addTable(
      'git_commit',
      `
      seq int not null,
      sha text not null,
      parents int[] not null,
      author_name text not null,
      author_email text not null,
      authored_at timestamptz(3) not null,
      committed_at timestamptz(3) not null,
      subject text not null,
      body text not null,
      work_items text[] not null,
      pull_requests int[] not null,
      primary key (tenant_id, project_id, seq),
      unique (tenant_id, project_id, sha)`,
    );
    this.addSql(`
      create index git_commit_abbreviated on git_commit (tenant_id, project_id, sha text_pattern_ops);
      create index git_commit_work_items on git_commit using gin (work_items)`);
    this.addTable(
      'git_package',
      `
      package_no int not null,
      name text not null,
      path text not null,
      version_number text,
      is_current boolean not null default true,
      primary key (tenant_id, project_id, package_no)`,
    );
    this.addSql(
      'create unique index git_package_current on git_package (tenant_id, project_id, name) where is_current',
    );
    this.addTable(
      'git_commit_package',
      `
      package_no int not null,
      seq int not null,
      parent_bits bigint not null,
      primary key (tenant_id, project_id, package_no, seq)`,
    );
    this.addTable(
      'git_ref',
      `
      kind text not null check (kind in ('branch', 'tag')),
      name text not null,
      sha text not null,
      primary key (tenant_id, project_id, kind, name)`,
    );
    // The commits of a package between two others: true for good, as commits never change. -1: from the beginning.
    this.addTable(
      'git_range',
      `
      package_no int not null,
      from_seq int not null,
      to_seq int not null,
      commits int[] not null,
      work_items text[] not null,
      pull_requests int[] not null,
      primary key (tenant_id, project_id, package_no, from_seq, to_seq)`,
    );
  }

  private addTable(name: string, columns: string): void {
    this.addSql(`create table ${name} (${columns}, ${OF_PROJECT}); ${fenceTenant(name)} ${fenceProject(name)}`);
  }
}
