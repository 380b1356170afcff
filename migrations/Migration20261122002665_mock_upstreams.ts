import { Migration } from '@mikro-orm/migrations';

/** Further hosts that a scenario stands for, by the prefix of the path that leads to them. */
export class MockUpstreams extends Migration {
  override up(): void {
    this.addSql(`
      alter table mock_scenario add column upstreams jsonb not null default '[]'::jsonb
        check (jsonb_typeof(upstreams) = 'array')`);
  }
}
