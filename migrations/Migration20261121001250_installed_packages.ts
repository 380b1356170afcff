import { Migration } from '@mikro-orm/migrations';

/** Objects laid over one another in order: of each member the last value. Sorting the members one by one took ten times as long. */
export class InstalledPackages extends Migration {
  override up(): void {
    this.addSql(
      `create aggregate jsonb_overlaid (jsonb) (sfunc = jsonb_concat, stype = jsonb, initcond = '{}', parallel = safe)`,
    );
  }
}
