import type pg from 'pg';
import { pgConnection } from '../overrides/pg-connection.ts';

/** A database that lets us in, but not as the service has to be: the message is one sentence for the operator. */
export class UnfencedConnectionError extends Error {}

interface Session {
  role: string;
  backend: number;
  isExempt: boolean;
  isOwner: boolean;
}

/** `pg_has_role` counts members of the owner, too, as row-level security does. */
const SESSION = `
  select current_user as role, pg_backend_pid() as backend, rolsuper or rolbypassrls as "isExempt",
    exists (select from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and pg_has_role(current_user, relowner, 'usage')) as "isOwner"
  from pg_roles where rolname = current_user`;

/**
 * Refuses a new connection on which row-level security would not hold, or on which what one statement sets might not
 * be there for the next. Rejects with `UnfencedConnectionError`.
 * @param role that the connection was opened for.
 */
export async function checkFenced(client: pg.ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<Session>(SESSION);
  const reason = refusalOf(rows[0], role, pgConnection(client).processID);
  if (reason !== undefined) throw new UnfencedConnectionError(reason);
}

/**
 * Refuses a connection whose login may act as any role but this one: whoever takes over the process could have the database
 * switch to the other role (`set role`), and do all that it may. Rejects with `UnfencedConnectionError`.
 */
export async function checkRoleAlone(client: pg.ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ login: string; other: string }>(
    `select session_user as login, rolname as other from pg_roles
     where rolname not in ($1, session_user) and pg_has_role(session_user, oid, 'member')
     order by rolname ~ '^pg_', rolname limit 1`,
    [role],
  );
  const [more] = rows;
  if (more)
    throw new UnfencedConnectionError(
      `The login ${more.login} of the database may act as ${more.other}, too: a browser host takes one that is a member of ${role} alone. See "The database's roles" in docs/operations/install.md.`,
    );
}

function refusalOf(session: Session | undefined, role: string, announcedBackend: number): string | undefined {
  if (session?.role !== role)
    return `The database ran a statement as ${session?.role ?? 'nobody'} instead of ${role}: connect to PostgreSQL directly, a pooler in between drops the role.`;
  if (session.isExempt)
    return `The role ${role} is a superuser or has BYPASSRLS: row-level security does not hold for it.`;
  if (session.isOwner) return `The role ${role} owns tables of the service, or is a member of their owner.`;
  if (session.backend !== announcedBackend)
    return 'A connection pooler stands between the service and PostgreSQL: connect directly, since the fence between tenants is kept on each connection.';
  return undefined;
}
