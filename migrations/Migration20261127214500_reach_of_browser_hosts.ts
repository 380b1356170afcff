import { Migration } from '@mikro-orm/migrations';

const OF_TENANT = 'tenant_id = (select current_tenant())';
/** A session that goes on, ended within a day, or of which something is left to be done. */
const UNDER_WAY = `provider = 'local' and (ended_at is null or updated_at > now() - interval '1 day'
  or recording_state = 'processing' or removed_at is not null)`;
const EVENTS = `starts_with(event, 'browser_session.')`;
/** There is a session that the role sees, and to which this applies. */
const seen = (table: string, more = ''): string =>
  `exists (select from browser_session s where s.tenant_id = ${table}.tenant_id${more})`;

const narrow = (table: string, rows: string): string =>
  `alter policy browsers on ${table} using (${OF_TENANT} and ${rows}) with check (${OF_TENANT} and ${rows});`;

/**
 * Hosts of browsers see no session that has been over, and unchanged, for a day, and of a tenant without such sessions
 * nothing; of projects, environments and subscriptions they see what is of these sessions alone.
 */
export class ReachOfBrowserHosts extends Migration {
  override up(): void {
    this.addSql(`
      ${narrow('browser_session', UNDER_WAY)}
      ${narrow('project', seen('project', ' and s.project_id = project.id'))}
      ${narrow('environment', seen('environment', ' and s.environment_id = environment.id'))}
      ${narrow('webhook_subscription', `${EVENTS} and ${seen('webhook_subscription')}`)}
      ${narrow('webhook_delivery', `${EVENTS} and ${seen('webhook_delivery')}`)}`);
    this.addSql(`
      create or replace function audit_append_of_browsers(for_tenant uuid, entries jsonb) returns void
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      begin
        if exists (
          select from jsonb_to_recordset(entries) as e (source text, action text, "entityType" text, "entityId" text)
          where e.source is distinct from 'browser' or e."entityType" is distinct from 'browser_session'
            or coalesce(e.action, '') not in
              ('browser_session.live', 'browser_session.control_taken', 'browser_session.recording_ready')
            or not exists (select from browser_session s
              where s.tenant_id = for_tenant and s.id::text = e."entityId" and ${UNDER_WAY})) then
          raise insufficient_privilege using message = 'a host of browsers audits what it does with its sessions alone';
        end if;
        perform audit_append(for_tenant, entries);
      end $$`);
  }
}
