import { Migration } from '@mikro-orm/migrations';
import { privileged } from './fences.ts';

/**
 * Second factors belong to people, not to tenants. No role of the application reads the tables: it asks by functions,
 * one person at a time.
 */
export class SecondFactors extends Migration {
  override up(): void {
    this.addSql(`
      create table user_totp (
        user_id uuid primary key references user_account (id) on delete cascade,
        secret text not null,
        created_at timestamptz(3) not null default now(),
        confirmed_at timestamptz(3),
        last_step bigint not null default 0);
      alter table user_totp enable row level security`);
    this.addSql(`
      create table user_recovery_code (
        user_id uuid not null references user_totp (user_id) on delete cascade,
        code_hash text not null,
        primary key (user_id, code_hash));
      alter table user_recovery_code enable row level security`);

    this.addFunction(
      'auth_totp(person uuid)',
      'table (secret text, is_confirmed boolean)',
      'select secret, confirmed_at is not null from user_totp where user_id = person',
    );
    this.addFunction(
      'auth_totp_offer(person uuid, new_secret text)',
      'boolean',
      `with offered as (
         insert into user_totp as t (user_id, secret) values (person, new_secret)
         on conflict (user_id) do update set secret = new_secret, last_step = 0, created_at = now() where t.confirmed_at is null
         returning 1)
       select exists (select from offered)`,
    );
    this.addFunction(
      'auth_totp_spend(person uuid, step bigint)',
      'boolean',
      `with spent as (update user_totp set last_step = step where user_id = person and last_step < step returning 1)
       select exists (select from spent)`,
    );
    this.addFunction(
      'auth_totp_confirm(person uuid, code_hashes text[])',
      'boolean',
      `with confirmed as (update user_totp set confirmed_at = now() where user_id = person and confirmed_at is null returning user_id),
         codes as (insert into user_recovery_code (user_id, code_hash) select user_id, unnest(code_hashes) from confirmed)
       select exists (select from confirmed)`,
    );
    this.addFunction(
      'auth_recovery_code_spend(person uuid, hash text)',
      'boolean',
      `with spent as (delete from user_recovery_code where user_id = person and code_hash = hash returning 1)
       select exists (select from spent)`,
    );
    this.addFunction(
      'auth_totp_remove(person uuid)',
      'boolean',
      `with removed as (delete from user_totp where user_id = person returning 1) select exists (select from removed)`,
    );
  }

  private addFunction(signature: string, returns: string, body: string): void {
    const types = signature.replace(/(\w+) (\w+(?:\[\])?)(?=[,)])/g, '$2');
    this.addSql(`
      create function ${signature} returns ${returns} language sql volatile security definer set search_path = public, pg_temp
        as $$ ${body} $$;
      ${privileged(types)}`);
  }
}
