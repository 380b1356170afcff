import { randomBytes } from 'node:crypto';
import { withClient } from './with-client.ts';

/** Digits and letters alone: it is written into statements. */
const newPassword = () => randomBytes(24).toString('hex');
const NO_RIGHT = '42501';

export interface BrowserHostLogin {
  name: string;
  /** The database's address with that login. */
  databaseUrl: string;
}

/**
 * Makes a login of the database's own for its browser hosts, or gives it a new password; `migrate` lets it serve them.
 * Undefined where the login of `databaseUrl` may not make one.
 */
export async function createBrowserHostLogin(databaseUrl: string): Promise<BrowserHostLogin | undefined> {
  const url = new URL(databaseUrl);
  const database = decodeURIComponent(url.pathname.slice(1));
  const name = `${database
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_')
    .slice(0, 40)}_browser_host`;
  const password = newPassword();
  const isMade = await withClient(databaseUrl, async (client) => {
    try {
      const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
      await client.query(`${rowCount === 0 ? 'create' : 'alter'} role "${name}" login password '${password}'`);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code === NO_RIGHT) return false;
      throw error;
    }
  });
  if (!isMade) return undefined;
  [url.username, url.password] = [name, password];
  return { name, databaseUrl: url.href };
}
