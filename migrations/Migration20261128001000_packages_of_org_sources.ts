import { Migration } from '@mikro-orm/migrations';

/** An org may run a part of the packages of a commit. */
export class PackagesOfOrgSources extends Migration {
  override up(): void {
    this.addSql('alter table org_source add column packages jsonb;');
  }
}
