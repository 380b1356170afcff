import { Migration } from '@mikro-orm/migrations';
import { fenceTenant, hideFromProjects } from './fences.ts';

const ATTENTION = `
  create table attention_acknowledgement (
    tenant_id uuid not null references tenant (id),
    kind text not null,
    key uuid not null,
    fingerprint text not null,
    acknowledged_by text not null,
    acknowledged_at timestamptz(3) not null,
    comment text,
    primary key (tenant_id, kind, key));
  ${fenceTenant('attention_acknowledgement')}
  ${hideFromProjects('attention_acknowledgement')}`;

/** What of that which a person should look at somebody has seen. */
export class Attention extends Migration {
  override up(): void {
    this.addSql(ATTENTION);
  }
}
