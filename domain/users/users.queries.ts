import type { Role } from '../shared/actor.ts';
import type { Tx } from '../unit-of-work.ts';

/** A user as the tenant sees it. */
export interface UserRow {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  /** The highest of the user's memberships in the tenant. */
  role: Role;
  /** Slugs, sorted. */
  teams: string[];
}

const SELECT = `
  select u.id, coalesce(p.first_name, '') as "firstName", coalesce(p.last_name, '') as "lastName", u.email, s.role, s.teams
  from (
    select m.user_id, (array_agg(m.role order by role_rank(m.role) desc))[1] as role, array_agg(t.slug order by t.slug) as teams
    from membership m join team t on t.tenant_id = m.tenant_id and t.id = m.team_id
    where m.tenant_id = ? group by m.user_id) s
  join user_account u on u.id = s.user_id
  left join user_profile p on p.tenant_id = ? and p.user_id = s.user_id`;

const find = async ({ sql, tenantId }: Tx, condition: string, parameters: unknown[]): Promise<UserRow | undefined> =>
  (await sql<UserRow>(`${SELECT} where ${condition}`, [tenantId, tenantId, ...parameters]))[0];

export const findUser = (tx: Tx, userId: string): Promise<UserRow | undefined> => find(tx, 'u.id = ?', [userId]);

/** By the primary address or by any other of the user's. */
export const findUserByAddress = (tx: Tx, address: string): Promise<UserRow | undefined> =>
  find(tx, 'u.id = (select a.user_id from user_alias a where a.email = lower(?))', [address]);

/** By the name that the user has at a git host. */
export const findUserByProviderName = (tx: Tx, provider: string, username: string): Promise<UserRow | undefined> =>
  find(tx, 'u.id = (select i.user_id from user_identity i where i.provider = ? and i.username = lower(?))', [
    provider,
    username,
  ]);

export interface UserFilter {
  team?: string | undefined;
  role?: Role | undefined;
  limit: number;
  offset: number;
}

/** The tenant's users by address, those of a team or a role, and how many there are in all. */
export async function listUsers(
  { sql, tenantId }: Tx,
  { team, role, limit, offset }: UserFilter,
): Promise<{ items: UserRow[]; total: number }> {
  const condition = '(?::text is null or ? = any (s.teams)) and (?::text is null or s.role = ?)';
  const parameters = [tenantId, tenantId, team ?? null, team ?? null, role ?? null, role ?? null];
  const items = await sql<UserRow>(`${SELECT} where ${condition} order by u.email limit ? offset ?`, [
    ...parameters,
    limit,
    offset,
  ]);
  const [count] = await sql<{ total: number }>(
    `select count(*)::int as total from (${SELECT} where ${condition}) x`,
    parameters,
  );
  return { items, total: count?.total ?? 0 };
}

/** How a user signs in and is found: for that user alone. */
export async function authDataOf({ sql }: Tx, userId: string): Promise<Record<string, unknown>> {
  const [row] = await sql<{ data: Record<string, unknown> }>(
    `select u.auth_data || jsonb_build_object(
       'hasPassword', u.password_hash is not null,
       'aliases', (select coalesce(jsonb_agg(jsonb_build_object('email', a.email, 'provider', a.provider) order by a.email), '[]')
         from user_alias a where a.user_id = u.id and a.email <> u.email),
       'identities', (select coalesce(jsonb_agg(jsonb_build_object('provider', i.provider, 'username', i.username) order by i.provider, i.username), '[]')
         from user_identity i where i.user_id = u.id)) as data
     from user_account u where u.id = ?`,
    [userId],
  );
  return row?.data ?? {};
}

export interface TeamRow {
  id: string;
  slug: string;
  members: number;
  createdAt: string;
}

/** Most teams of a list. */
export const TEAMS_MAX = 1_000;

/** The tenant's teams by slug, at most `TEAMS_MAX`. */
export const listTeams = ({ sql, tenantId }: Tx): Promise<TeamRow[]> =>
  sql(
    `select t.id, t.slug, t.created_at as "createdAt",
       (select count(*)::int from membership m where m.tenant_id = t.tenant_id and m.team_id = t.id) as members
     from team t where t.tenant_id = ? order by t.slug limit ${TEAMS_MAX}`,
    [tenantId],
  );
