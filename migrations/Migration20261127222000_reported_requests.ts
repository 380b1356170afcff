import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** The workflow that shows a request in its work item is named by the repository. */
export class ReportedRequests extends Migration {
  override up(): void {
    this.addSql(`grant select (repository_identifier) on work_item_request to ${SYSTEM_ROLE}`);
  }
}
