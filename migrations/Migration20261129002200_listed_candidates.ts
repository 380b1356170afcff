import { Migration } from '@mikro-orm/migrations';

/** Candidates that were not superseded, which the matrix lists and counts. */
export class ListedCandidates extends Migration {
  override up(): void {
    this.addSql(`
      create index release_candidate_listed on release_candidate (tenant_id, project_id, created_at desc, id desc)
        include (domain, release_name, commit_sha) where superseded_by is null;`);
  }
}
