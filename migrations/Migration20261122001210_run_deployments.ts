import { Migration } from '@mikro-orm/migrations';

/** A run that deploys keeps what it deploys, as it was when its work began. */
export class RunDeployments extends Migration {
  override up(): void {
    this.addSql('alter table flow_run add column deploys jsonb');
  }
}
