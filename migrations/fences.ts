/** The role that the API and the workers take on. It owns nothing, so that row-level security holds for it. */
export const APP_ROLE = roleName(process.env.DATABASE_APP_ROLE ?? 'quayside_app');
/** The role of deliveries and sweeps, which work across tenants; ADR 2 says what it may see. */
export const SYSTEM_ROLE = `${APP_ROLE}_system`;

function roleName(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,55}$/.test(name)) throw new Error(`DATABASE_APP_ROLE is malformed: ${name}`);
  return name;
}

/**
 * Creates a role that nobody signs in with, unless it exists: roles belong to the cluster, and another of its databases
 * may create the same one at the same time.
 */
export const createRole = (role: string): string => `
  do $$ begin
    create role ${role} nologin noinherit;
  exception when duplicate_object or unique_violation then null;
  end $$;
  grant ${role} to current_user;
  grant usage on schema public to ${role};`;

type Right = 'select' | 'insert' | 'update' | 'delete';
const ALL_RIGHTS: readonly Right[] = ['select', 'insert', 'update', 'delete'];

/** Fences a table with a `tenant_id` column: the application sees and writes the rows of the tenant that is set. */
export const fenceTenant = (table: string, rights: readonly Right[] = ALL_RIGHTS): string => `
  alter table ${table} enable row level security;
  create policy tenant on ${table} to ${APP_ROLE}
    using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
  grant ${rights.join(', ')} on ${table} to ${APP_ROLE};`;

/** Besides the tenant's fence: a scoped application token sees only the rows of its projects. */
export const fenceProject = (table: string, column = 'project_id'): string => `
  create policy project on ${table} as restrictive to ${APP_ROLE}
    using ((select current_projects()) is null or ${column} = any ((select current_projects())::uuid[]))
    with check ((select current_projects()) is null or ${column} = any ((select current_projects())::uuid[]));`;

/** Lets the system role work on a table in all tenants. */
export const openToSystem = (table: string, rights: readonly Right[]): string => `
  create policy system on ${table} to ${SYSTEM_ROLE} using (true) with check (true);
  grant ${rights.join(', ')} on ${table} to ${SYSTEM_ROLE};`;

/** A function that runs with its owner's rights: the one way for the application past the fence, for one purpose. */
export const privileged = (signature: string): string => `
  revoke all on function ${signature} from public;
  grant execute on function ${signature} to ${APP_ROLE};`;

/** The columns of every row that belongs to a tenant; see `tenantOwned`. */
export const TENANT_OWNED = `
  id uuid primary key,
  tenant_id uuid not null references tenant (id),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()`;
