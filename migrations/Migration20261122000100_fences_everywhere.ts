import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, openToAll, SYSTEM_ROLE } from './fences.ts';

/** Tables without a tenant say by a policy whom they are for, as row-level security is forced on every table. */
export class FencesEverywhere extends Migration {
  override up(): void {
    this.addSql(openToAll('sign_in_failure', APP_ROLE, ['select', 'insert', 'update', 'delete']));
    this.addSql(openToAll('sweep_failure', SYSTEM_ROLE, ['select', 'insert', 'update', 'delete']));
  }
}
