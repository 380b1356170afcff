import { Migration } from '@mikro-orm/migrations';

/** Checks that failed since nothing was found, instead of something bad. */
export class ChecksWithoutResult extends Migration {
  override up(): void {
    this.addSql('alter table verification_check add column is_unknown boolean not null default false;');
  }
}
