import { Migration } from '@mikro-orm/migrations';

/** What a release must meet before it goes to an environment, runs that wait for that, and who passed over it. */
export class Promotion extends Migration {
  override up(): void {
    this.addSql(`alter table environment add column promotion jsonb`);
    this.addSql(`
      alter table flow_run add column next_window_at timestamptz(3), add column waits_for text, add column override jsonb;
      create index flow_run_waiting_window on flow_run (tenant_id, project_id) where status = 'waiting_window'`);
    this.addSql(`
      alter table approval add column content_digest text;
      alter table approval_event add column override jsonb;
      create index approval_given on approval (tenant_id, project_id, domain, release_name) where status = 'approved'`);
  }
}
