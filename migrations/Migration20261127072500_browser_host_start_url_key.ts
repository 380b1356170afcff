import { Migration } from '@mikro-orm/migrations';

/** The key with which addresses at which sessions begin are sealed for a host of browsers. */
export class BrowserHostStartUrlKey extends Migration {
  override up(): void {
    this.addSql('alter table browser_host add column start_url_key text');
  }
}
