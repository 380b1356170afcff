import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { APP_ROLE, BROWSERS_ROLE, SYSTEM_ROLE } from './fences.ts';

const FOLDER = new URL('functions/', import.meta.url);
/** What stands in a file as `:app_role`, as a variable of psql does. */
const ROLES = { app_role: APP_ROLE, system_role: SYSTEM_ROLE, browsers_role: BROWSERS_ROLE };
const ROLE = new RegExp(`(?<!:):(${Object.keys(ROLES).join('|')})\\b`, 'g');

/** Runs SQL in the transaction of the migration. */
type Execute = (sql: string) => Promise<unknown>;

/** The text of a function, `<area>/<name>`, for migrations whose tables need it: others are made after all migrations. */
export const sqlFunction = (path: string): string =>
  readFileSync(new URL(`${path}.sql`, FOLDER), 'utf8').replace(ROLE, (_, role: keyof typeof ROLES) => ROLES[role]);

/**
 * Makes the functions that are missing or whose files have changed, with their triggers, and answers their names. The
 * digest of its file is the comment of a function. Their bodies are checked when all of them exist.
 * @public loaded by `migrate`
 */
export async function recreateFunctions(execute: Execute): Promise<string[]> {
  const rows = await execute(`
    select proname as name, obj_description(oid, 'pg_proc') as digest from pg_proc
    where pronamespace = 'public'::regnamespace`);
  const made = new Map((rows as { name: string; digest: string | null }[]).map(({ name, digest }) => [name, digest]));
  const changed = functionFiles().filter(({ name, digest }) => made.get(name) !== digest);
  await execute('set local check_function_bodies = off');
  for (const { name, text, digest } of changed) {
    await execute(text).catch((error: unknown) => {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    });
    await execute(`comment on routine ${name} is '${digest}'`);
  }
  await execute('set local check_function_bodies = on');
  if (changed.length > 0) await execute(checkBodies(changed.map(({ name }) => name)));
  return changed.map(({ name }) => name);
}

/** Each file has the one function of its name, and its triggers. */
function functionFiles(): { name: string; text: string; digest: string }[] {
  const paths = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.sql'));
  return paths.toSorted().map((path) => {
    const [, name = ''] = /(\w+)\.sql$/.exec(path) ?? [];
    const text = sqlFunction(path.replace(/\.sql$/, ''));
    return { name, text, digest: createHash('sha256').update(text).digest('hex') };
  });
}

const checkBodies = (names: string[]): string => `
  select case l.lanname when 'sql' then fmgr_sql_validator(p.oid) else plpgsql_validator(p.oid) end
  from pg_proc p join pg_language l on l.oid = p.prolang
  where pronamespace = 'public'::regnamespace and proname in (${names.map((name) => `'${name}'`).join(', ')})
    and l.lanname in ('sql', 'plpgsql')`;
