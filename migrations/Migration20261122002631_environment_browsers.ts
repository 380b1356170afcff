import { Migration } from '@mikro-orm/migrations';

/** How browsers are lent at the org of an environment. */
export class EnvironmentBrowsers extends Migration {
  override up(): void {
    this.addSql('alter table environment add column browser jsonb');
  }
}
