import { Migration } from '@mikro-orm/migrations';

/** Whether the program of a run may have been started, so that no other worker starts it again. */
export class ProgramStarted extends Migration {
  override up(): void {
    this.addSql('alter table flow_run add column program_started_at timestamptz(3)');
  }
}
