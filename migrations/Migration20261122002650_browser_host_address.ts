import { Migration } from '@mikro-orm/migrations';

/** Where the API reaches a host of browsers, for live views. */
export class BrowserHostAddress extends Migration {
  override up(): void {
    this.addSql('alter table browser_host add column address text');
  }
}
