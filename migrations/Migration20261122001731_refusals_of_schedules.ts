import { Migration } from '@mikro-orm/migrations';

/** Why a schedule that was due last started no run. */
export class RefusalsOfSchedules extends Migration {
  override up(): void {
    this.addSql(`alter table flow_schedule add column refused_at timestamptz(3), add column refusal text`);
  }
}
