/** The role that the API and the workers take on. It owns nothing, so that row-level security holds for it. */
export const APP_ROLE = roleName(process.env.DATABASE_APP_ROLE ?? 'quayside_app');
/** The role of deliveries and sweeps, which work across tenants; ADR 2 says what it may see. */
export const SYSTEM_ROLE = `${APP_ROLE}_system`;
/** The role of hosts of browsers, which run pages of strangers: it can run the statements of a host and no other. */
export const BROWSERS_ROLE = `${APP_ROLE}_browsers`;
/** The role of operators' commands, and the owner of privileged functions: it passes every fence. No process serves as it. */
export const OPERATOR_ROLE = `${APP_ROLE}_operator`;

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

/**
 * Limits a table to what a condition allows to an application token with projects. As a `case`, the condition costs
 * others nothing, and PostgreSQL does not take it for one that hardly any row meets.
 */
export const limitProjects = (table: string, condition: string): string => {
  const check = `case when (select current_projects()) is null then true else ${condition} end`;
  return `create policy project on ${table} as restrictive to ${APP_ROLE} using (${check}) with check (${check});`;
};

/** Hides a table of the whole tenant from application tokens with projects. */
export const hideFromProjects = (table: string): string =>
  `create policy project on ${table} as restrictive to ${APP_ROLE} using ((select current_projects()) is null);`;

/** Lets the system role work on a table in all tenants. */
export const openToSystem = (table: string, rights: readonly Right[]): string => `
  create policy system on ${table} to ${SYSTEM_ROLE} using (true) with check (true);
  grant ${rights.join(', ')} on ${table} to ${SYSTEM_ROLE};`;

/** Lets the system role read some columns of a table in all tenants. */
export const showToSystem = (table: string, columns: string): string => `
  create policy system on ${table} to ${SYSTEM_ROLE} using (true);
  grant select (${columns}) on ${table} to ${SYSTEM_ROLE};`;

/** Opens a table without a tenant to a role: what it holds must be meant for all tenants. */
export const openToAll = (table: string, role: string, rights: readonly Right[]): string => `
  alter table ${table} enable row level security;
  create policy everyone on ${table} to ${role} using (true) with check (true);
  grant ${rights.join(', ')} on ${table} to ${role};`;

/** The columns of every row that belongs to a tenant; see `tenantOwned`. */
export const TENANT_OWNED = `
  id uuid primary key,
  tenant_id uuid not null references tenant (id),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()`;

/** A row that goes with its project. */
export const PROJECT_KEY = 'foreign key (tenant_id, project_id) references project (tenant_id, id) on delete cascade';

/**
 * Runs before the migrations, in their transaction. While they run, an owner of the schema that is no superuser has the
 * rights of the operator's role, so that migrations can change rows and replace privileged functions.
 * @public loaded by `migrate`
 */
export const openFences = `
  do $$ begin
    if not exists (select from pg_roles where rolname = '${OPERATOR_ROLE}') then
      begin
        create role ${OPERATOR_ROLE} nologin noinherit;
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
    if not (select rolsuper from pg_roles where rolname = current_user) then
      grant ${OPERATOR_ROLE} to current_user with inherit true;
    end if;
  end $$`;

/**
 * Runs after the migrations, in their transaction: row-level security is forced on every table, also for its owner, and
 * privileged functions run as the operator's role instead of as the owner. Only `schema_migration` stays as it is,
 * which no other role may write.
 * @public loaded by `migrate`
 */
export const closeFences = `
  do $$
  declare
    found record;
  begin
    grant usage, create on schema public to ${OPERATOR_ROLE};
    for found in
      select c.oid::regclass as relation, relforcerowsecurity as is_forced,
        exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'operator') as is_open
      from pg_class c
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migration'
    loop
      if not found.is_forced then
        execute format('alter table %s enable row level security, force row level security', found.relation);
      end if;
      if not found.is_open then
        execute format('create policy operator on %s to ${OPERATOR_ROLE} using (true) with check (true)', found.relation);
        execute format('grant select, insert, update, delete on %s to ${OPERATOR_ROLE}', found.relation);
      end if;
    end loop;
    for found in
      select oid::regprocedure as signature from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef and proowner <> '${OPERATOR_ROLE}'::regrole
    loop
      execute format('alter function %s owner to ${OPERATOR_ROLE}', found.signature);
    end loop;
    grant execute on all functions in schema public to ${OPERATOR_ROLE};
    grant select, usage on all sequences in schema public to ${OPERATOR_ROLE};
    grant select on schema_migration to ${OPERATOR_ROLE};
    revoke create on schema public from ${OPERATOR_ROLE};
    if not (select rolsuper from pg_roles where rolname = current_user) then
      grant ${APP_ROLE}, ${SYSTEM_ROLE}, ${BROWSERS_ROLE}, ${OPERATOR_ROLE} to current_user with inherit false;
    end if;
  end $$`;

/**
 * Lets a login serve as the API and the workers. It must exist.
 * @public loaded by `migrate`
 */
export const openService = (login: string): string => `grant ${APP_ROLE}, ${SYSTEM_ROLE} to "${loginName(login)}"`;

/**
 * Lets a login serve hosts of browsers, and nothing else. It must exist.
 * @public loaded by `migrate`
 */
export const openBrowserHosts = (login: string): string => `grant ${BROWSERS_ROLE} to "${loginName(login)}"`;

function loginName(login: string): string {
  if (!/^[a-z_][a-z0-9_-]{0,62}$/.test(login)) throw new Error(`the login is malformed: ${login}`);
  return login;
}
