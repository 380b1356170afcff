import { Migration } from '@mikro-orm/migrations';

/** Pools say why no org was prepared the last time. */
export class PoolFailures extends Migration {
  override up(): void {
    this.addSql('alter table review_pool add column prepare_error text');
  }
}
