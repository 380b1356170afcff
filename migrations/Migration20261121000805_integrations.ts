import { Migration } from '@mikro-orm/migrations';
import { APP_ROLE, fenceTenant, TENANT_OWNED } from './fences.ts';

/** Accounts at external systems; their credentials are encrypted. */
export class Integrations extends Migration {
  override up(): void {
    this.addSql(`
      create table integration (${TENANT_OWNED},
        project_id uuid,
        kind text not null,
        name text not null,
        base_url text,
        settings jsonb not null default '{}',
        credentials text not null,
        credentials_updated_at timestamptz(3) not null default now(),
        is_active boolean not null default true,
        version int not null default 1,
        created_by text not null,
        foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade,
        unique nulls not distinct (tenant_id, kind, project_id));
      ${fenceTenant('integration')}`);
    // What holds for the whole tenant holds for the projects of a scoped token, too.
    this.addSql(`
      create policy project on integration as restrictive to ${APP_ROLE}
        using ((select current_projects()) is null or project_id is null or project_id = any ((select current_projects())::uuid[]))
        with check ((select current_projects()) is null or project_id = any ((select current_projects())::uuid[]))`);
  }
}
