import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant } from './fences.ts';

/** What the API keeps about requests: replies for repeated ones, and counts of refused sign-ins. */
export class Requests extends Migration {
  override up(): void {
    this.addSql(`
      create table idempotency_key (
        tenant_id uuid not null references tenant (id),
        subject text not null,
        method text not null,
        path text not null,
        key text not null,
        body_hash text not null,
        started_at timestamptz(3) not null default now(),
        status int,
        reply text,
        primary key (tenant_id, subject, method, path, key));
      create index idempotency_key_age on idempotency_key (started_at);
      ${fenceTenant('idempotency_key')}`);
    this.addSql(`
      create table sign_in_failure (key text primary key, points int not null default 0, expire bigint);
      grant select, insert, update, delete on sign_in_failure to ${APP_ROLE}`);
  }
}
