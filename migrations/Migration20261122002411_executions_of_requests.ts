import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant } from './fences.ts';

/** Executions find their requests by a key: behind a fence, an index of arrays is not used. */
export class ExecutionsOfRequests extends Migration {
  override up(): void {
    this.addSql(`
      create table work_item_request_execution (
        tenant_id uuid not null,
        project_id uuid not null,
        execution_id text collate "C" not null,
        request_id uuid not null,
        primary key (tenant_id, project_id, execution_id, request_id),
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade);
      ${fenceTenant('work_item_request_execution', ['select', 'insert'])}
      ${fenceProject('work_item_request_execution')}
      insert into work_item_request_execution
      select distinct tenant_id, project_id, unnest(execution_ids), id from work_item_request;
      alter table work_item_request drop column execution_ids`);
  }
}
