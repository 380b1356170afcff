import { Migration } from '@mikro-orm/migrations';
import { SYSTEM_ROLE } from './fences.ts';

/** What the steps of a run note so that each may be repeated. */
export class RunSteps extends Migration {
  override up(): void {
    // A pipeline that may have been dispatched is never dispatched again; a run has one workflow in its life.
    this.addSql(
      'alter table flow_run add column dispatch_tried_at timestamptz(3), add column engine_run_id text, add column reported_end jsonb',
    );
    this.addSql(`grant select (project_id, request_id, traceparent) on flow_run to ${SYSTEM_ROLE}`);
  }
}
