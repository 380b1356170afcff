import type { Role } from '../shared/actor.ts';
import type { Tx } from '../unit-of-work.ts';

export interface UserRow {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  /** The highest of the user's memberships in the tenant. */
  role: Role;
  teams: string[];
  authData: Record<string, unknown>;
}

/** A user of the tenant with its role and teams there. */
export async function findUser({ sql }: Tx, userId: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow>(
    `select u.id, u.first_name as "firstName", u.last_name as "lastName", u.email, u.auth_data as "authData",
       (array_agg(m.role order by role_rank(m.role) desc))[1] as role, array_agg(t.slug order by t.slug) as teams
     from user_account u join membership m on m.user_id = u.id join team t on t.id = m.team_id
     where u.id = ? group by u.id`,
    [userId],
  );
  return row;
}
