import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, openToSystem, TENANT_OWNED } from './fences.ts';

/** Comparisons of scenarios with the hosts that they stand for. */
export class MockDrifts extends Migration {
  override up(): void {
    this.addSql(`
      create table mock_drift (${TENANT_OWNED},
        scenario_id uuid not null,
        status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed')),
        requested_by text not null,
        checked int not null default 0,
        skipped int not null default 0,
        findings jsonb not null default '[]'::jsonb,
        error text,
        ended_at timestamptz(3),
        unique (tenant_id, id),
        foreign key (tenant_id, scenario_id) references mock_scenario (tenant_id, id) on delete cascade);
      create index mock_drift_of_scenario on mock_drift (tenant_id, scenario_id, created_at);
      create index mock_drift_under_way on mock_drift (updated_at) where status in ('queued', 'running')`);
    this.addSql(`
      ${fenceTenant('mock_drift')}
      create policy project on mock_drift as restrictive to ${APP_ROLE}
        using ((select current_projects()) is null) with check ((select current_projects()) is null);
      ${openToSystem('mock_drift', ['select'])}`);
  }
}
