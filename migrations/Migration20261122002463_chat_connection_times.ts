import { Migration } from '@mikro-orm/migrations';

/** When chat workspaces were connected last: what the platform reported before then is out of date. */
export class ChatConnectionTimes extends Migration {
  override up(): void {
    this.addSql(`
      alter table chat_workspace add column connected_at timestamptz(3) not null default now();
      update chat_workspace set connected_at = updated_at`);
  }
}
