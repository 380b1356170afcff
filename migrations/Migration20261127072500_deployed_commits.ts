import { Migration } from '@mikro-orm/migrations';

/** Each deployment keeps the commit that it deployed, so that the same versions of another commit are seen to be others. */
export class DeployedCommits extends Migration {
  override up(): void {
    // By a trigger, so that processes of the version before keep it, too. It comes after the one that fills the digest.
    this.addSql(`
      alter table release_deployment add column commit_sha text;
      create function fill_deployed_commit() returns trigger language plpgsql as $$
        begin
          new.commit_sha := (
            select c.commit_sha from release_candidate c
            where c.tenant_id = new.tenant_id and c.id = new.candidate_id and c.content_digest = new.content_digest);
          return new;
        end $$;
      create trigger filled_commit before insert on release_deployment
        for each row when (new.commit_sha is null) execute function fill_deployed_commit();
      update release_deployment d set commit_sha = c.commit_sha from release_candidate c
        where c.tenant_id = d.tenant_id and c.id = d.candidate_id and c.content_digest = d.content_digest`);
  }
}
