import { Migration } from '@mikro-orm/migrations';

/** A delivery is due at the very moment it is queued: rounded up to a millisecond, it would not be due yet. */
export class Migration20261121000700_delivery_due_moment extends Migration {
  override up(): void {
    this.addSql('alter table webhook_delivery alter column due_at type timestamptz');
  }
}
