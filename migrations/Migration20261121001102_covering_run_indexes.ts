import { Migration } from '@mikro-orm/migrations';

const LEADING = {
  newest: '',
  of_project: 'project_id, ',
  of_status: 'display_status, ',
  of_task_type: 'task_type, ',
  of_category: 'category, ',
  of_trigger: 'triggered_by, ',
};
/** With the project, by which the fence of scoped tokens reads every row, and with what filters come together. */
const COVERED = [
  'project_id',
  'display_status',
  'category',
  'task_type',
  'execution_mode',
  'flow_path',
  'work_item_type',
  'is_internal',
  'is_scheduled',
];

/** Lists of runs are found and counted in one index alone, whatever two filters they have. */
export class CoveringRunIndexes extends Migration {
  override up(): void {
    for (const [name, leading] of Object.entries(LEADING)) {
      const covered = COVERED.filter((column) => !leading.startsWith(column)).join(', ');
      this.addSql(`drop index flow_run_${name}`);
      this.addSql(
        `create index flow_run_${name} on flow_run (tenant_id, ${leading}created_at desc, id desc) include (${covered})`,
      );
    }
  }
}
