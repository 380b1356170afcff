import { Migration } from '@mikro-orm/migrations';
import { openToSystem } from './fences.ts';

/** Which budget was announced to be nearly used, so that a raised one is again; and old months are removed. */
export class AiBudgetWarnings extends Migration {
  override up(): void {
    this.addSql(`
      alter table ai_budget_month add column warned_of double precision;
      update ai_budget_month m set warned_of = (i.settings->>'monthlyBudget')::float8
      from integration i where i.tenant_id = m.tenant_id and i.id = m.integration_id and m.warned_at is not null
        and jsonb_typeof(i.settings->'monthlyBudget') = 'number';
      ${openToSystem('ai_budget_month', ['select', 'delete'])}`);
  }
}
