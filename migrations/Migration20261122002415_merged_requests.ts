import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE } from './fences.ts';

/** A request that a callback made known before its creation was confirmed is merged into the one that was created. */
export class MergedRequests extends Migration {
  override up(): void {
    this.addSql(`grant delete on work_item_request to ${APP_ROLE}`);
  }
}
