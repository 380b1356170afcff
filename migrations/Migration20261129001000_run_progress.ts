import { Migration } from '@mikro-orm/migrations';

/** How far runs are, and what they have printed while they go on. */
export class RunProgress extends Migration {
  override up(): void {
    this.addSql(`alter table flow_run
      add column progress jsonb,
      add column announced_progress jsonb,
      add column announced_at timestamptz(3),
      add column output_so_far bytea,
      add column output_bytes bigint`);
  }
}
