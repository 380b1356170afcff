import { Migration } from '@mikro-orm/migrations';

/** Tokens are kept of scratch orgs, too, which have no record: under their username, at their dev hub. */
export class TokensOfScratchOrgs extends Migration {
  override up(): void {
    this.addSql('alter table crm_token rename column sandbox_name to reached_name');
  }
}
