import { Migration } from '@mikro-orm/migrations';

/** Pull requests of an author that ended lately: where the host does not say when, its last change counts. */
export class PullRequestsByEnd extends Migration {
  override up(): void {
    this.addSql(`
      drop index pull_request_of_author;
      create index pull_request_of_author on pull_request
        (tenant_id, project_id, author_key, state, coalesce(ended_at, changed_at) desc)`);
  }
}
