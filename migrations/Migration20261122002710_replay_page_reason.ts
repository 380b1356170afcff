import { Migration } from '@mikro-orm/migrations';

/** Why something of the recording of a tab is missing. */
export class ReplayPageReason extends Migration {
  override up(): void {
    this.addSql('alter table browser_replay_page add column reason text');
  }
}
