import { Migration } from '@mikro-orm/migrations';

/** Queries by content read all changes that wait to be put into the index: only few may. */
export class DocumentPending extends Migration {
  override up(): void {
    this.addSql('alter index document_content set (gin_pending_list_limit = 64)');
  }
}
