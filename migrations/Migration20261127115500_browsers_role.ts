import { Migration } from '@mikro-orm/migrations';
import { BROWSERS_ROLE, createRole, privileged } from './fences.ts';

const OF_TENANT = 'tenant_id = (select current_tenant())';
/** Which rows that belong to a session are open: those of a session that is seen, as local ones are. */
const ofSession = (table: string): string =>
  `${OF_TENANT} and exists (select from browser_session s where s.tenant_id = ${table}.tenant_id and s.id = ${table}.session_id)`;

/** Opens the rows of a table to hosts of browsers, for these rights. */
const open = (table: string, rights: string, rows = OF_TENANT): string => `
  create policy browsers on ${table} to ${BROWSERS_ROLE} using (${rows}) with check (${rows});
  grant ${rights} on ${table} to ${BROWSERS_ROLE};`;

/** Hosts of browsers act as a role that can do their statements and no others. */
export class BrowsersRole extends Migration {
  override up(): void {
    this.addSql(`
      ${createRole(BROWSERS_ROLE)}
      grant ${BROWSERS_ROLE} to current_user with inherit false;
      ${open('browser_host', 'select, insert, delete, update (places, places_used, seen_at)', 'true')}
      ${open(
        'browser_session',
        `select, update (status, status_reason, status_detail, isolation, provider_session_id, host_id, expires_at,
          recording_state, recording_pages, recording_bytes, recording_reason, live_at, updated_at)`,
        `${OF_TENANT} and provider = 'local'`,
      )}
      ${open('project', 'select (tenant_id, id, identifier)')}
      ${open('environment', 'select (tenant_id, id, name)')}
      ${open(
        'browser_session_event',
        'insert (tenant_id, session_id, project_id, occurred_at, kind, summary, by_email, data)',
        ofSession('browser_session_event'),
      )}
      ${open(
        'browser_replay_page',
        `select, insert (tenant_id, session_id, page_id, project_id, title, started_at),
          update (title, segments, bytes, ended_at, is_whole, reason)`,
        ofSession('browser_replay_page'),
      )}
      ${open('webhook_subscription', 'select (tenant_id, event, webhook_id)')}
      ${open(
        'webhook_delivery',
        'select (webhook_id), insert (id, tenant_id, webhook_id, event, payload, traceparent)',
        `${OF_TENANT} and starts_with(event, 'browser_session.')`,
      )}`);
    this.addSql(`
      create function audit_append_of_browsers(for_tenant uuid, entries jsonb) returns void
        language plpgsql volatile security definer set search_path = public, pg_temp as $$
      begin
        if exists (
          select from jsonb_to_recordset(entries) as e (source text, action text, "entityType" text, "entityId" text)
          where e.source is distinct from 'browser' or e."entityType" is distinct from 'browser_session'
            or coalesce(e.action, '') not in
              ('browser_session.live', 'browser_session.control_taken', 'browser_session.recording_ready')
            or not exists (select from browser_session s
              where s.tenant_id = for_tenant and s.id::text = e."entityId" and s.provider = 'local')) then
          raise insufficient_privilege using message = 'a host of browsers audits what it does with its sessions alone';
        end if;
        perform audit_append(for_tenant, entries);
      end $$;
      ${privileged('audit_append_of_browsers(uuid, jsonb)', BROWSERS_ROLE)}`);
  }
}
