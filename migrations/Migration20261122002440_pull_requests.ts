import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant } from './fences.ts';

/** What hosts tell of pull requests. */
export class PullRequests extends Migration {
  override up(): void {
    this.addSql(`
      create table pull_request (
        tenant_id uuid not null,
        project_id uuid not null,
        number int not null check (number > 0),
        title text not null,
        url text,
        state text not null check (state in ('open', 'closed', 'merged')),
        is_draft boolean not null,
        author text,
        author_key text check (author_key = lower(author)),
        author_avatar_url text,
        branch text not null,
        base_branch text not null,
        head_sha text,
        base_sha text,
        merge_commit_sha text,
        labels jsonb not null,
        requested jsonb not null,
        reviews jsonb not null,
        is_in_review boolean not null,
        awaited text[] not null,
        opened_at timestamptz(3) not null,
        ended_at timestamptz(3),
        host_time timestamptz(3) not null,
        is_from_list boolean not null,
        changed_at timestamptz(3) not null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        primary key (tenant_id, project_id, number),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      create index pull_request_of_author on pull_request (tenant_id, project_id, author_key, state, ended_at desc);
      create index pull_request_open on pull_request (tenant_id, project_id) where state = 'open';
      ${fenceTenant('pull_request')}
      ${fenceProject('pull_request')}`);
  }
}
