import { Migration } from '@mikro-orm/migrations';

/** Which run made an org of a review pool: whether the run brought any forth, and what it left unfinished. */
export class BuildersOfOrgs extends Migration {
  override up(): void {
    this.addSql('alter table review_instance add column prepared_by uuid');
    this.addSql(
      'create index review_instance_of_run on review_instance (tenant_id, prepared_by) where prepared_by is not null',
    );
  }
}
