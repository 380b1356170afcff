import { Migration } from '@mikro-orm/migrations';

/** A request with an `Idempotency-Key` notes in its own transaction that it was carried out. */
export class RequestsDone extends Migration {
  override up(): void {
    this.addSql('alter table idempotency_key add column done_at timestamptz(3)');
  }
}
