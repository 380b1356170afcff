import { Migration } from '@mikro-orm/migrations';

/** What a reported deployment broke of the policies of its environment. */
export class PolicyViolations extends Migration {
  override up(): void {
    this.addSql(`alter table release_deployment add column policy_violations jsonb not null default '[]'`);
  }
}
