import { Migration } from '@mikro-orm/migrations';
import { fenceProject, fenceTenant, TENANT_OWNED } from './fences.ts';

/** Links by which people without an account watch a browser session. The links themselves are signed, and kept nowhere. */
export class LiveLinks extends Migration {
  override up(): void {
    this.addSql(`
      create table browser_live_link (${TENANT_OWNED},
        project_id uuid not null,
        session_id uuid not null,
        mode text not null check (mode in ('watch', 'control')),
        expires_at timestamptz(3) not null,
        revoked_at timestamptz(3),
        created_by jsonb not null,
        foreign key (tenant_id, session_id) references browser_session (tenant_id, id) on delete cascade);
      create index on browser_live_link (tenant_id, session_id);
      ${fenceTenant('browser_live_link')}
      ${fenceProject('browser_live_link')}`);
  }
}
