import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** Rows that a sweep could not deal with, each with the time of its next attempt. No tenant's role sees them. */
export class SweepFailures extends Migration {
  override up(): void {
    this.addSql(`
      create table sweep_failure (
        sweep text not null,
        row_key text not null,
        attempts int not null,
        last_error text not null,
        first_failed_at timestamptz(3) not null default now(),
        next_attempt_at timestamptz(3) not null,
        primary key (sweep, row_key));
      grant select, insert, update, delete on sweep_failure to ${SYSTEM_ROLE};`);
  }
}
