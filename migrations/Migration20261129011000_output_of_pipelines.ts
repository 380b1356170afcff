import { Migration } from '@mikro-orm/migrations';

/** What the output of runs has told of their pipelines. */
export class OutputOfPipelines extends Migration {
  override up(): void {
    this.addSql('alter table flow_run add column pipeline_told jsonb;');
  }
}
