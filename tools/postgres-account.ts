import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from './operator-error.ts';

const run = promisify(execFile);
const NAME = 'postgres';

export interface StartOf {
  program: string;
  args: readonly string[];
  /** For `spawn`. */
  ids: { uid?: number; gid?: number };
}

/** Under whose name the programs of PostgreSQL run. */
export interface PostgresAccount {
  /** Absent: that of this process. */
  owner?: { uid: number; gid: number };
  startOf: (program: string, args: readonly string[]) => StartOf;
}

/**
 * PostgreSQL refuses to run as root; then it runs as the user `postgres`, which is made when missing. Where that user
 * may not walk to one of the paths (a checkout in /root), it gets the capability to do so.
 */
export async function postgresAccount(paths: readonly string[]): Promise<PostgresAccount> {
  if (userInfo().uid !== 0) return { startOf: (program, args) => ({ program, args, ids: {} }) };
  const owner = await postgresUser();
  const closed = paths.map(closedFolderOf).find((folder) => folder !== undefined);
  if (closed === undefined) return { owner, startOf: (program, args) => ({ program, args, ids: owner }) };
  // Without the bit, access(2) would not count the capability, and initdb asks it.
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const prefix = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...caps, '--'];
  try {
    await run('setpriv', [...prefix, 'true']);
  } catch {
    throw new OperatorError(
      `As root, the database runs as the user ${NAME}, who cannot enter ${closed}: open it (chmod o+x), work elsewhere, or set DATABASE_URL.`,
    );
  }
  return { owner, startOf: (program, args) => ({ program: 'setpriv', args: [...prefix, program, ...args], ids: {} }) };
}

async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const found = await lookUp().catch(() => undefined);
  if (found) return found;
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', NAME]).catch(() =>
      run('adduser', ['-S', '-D', '-H', NAME]),
    );
    return await lookUp();
  } catch {
    throw new OperatorError(
      `The user ${NAME}, as whom the database runs when root starts it, could not be made; set DATABASE_URL instead.`,
    );
  }
}

async function lookUp(): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([run('id', ['-u', NAME]), run('id', ['-g', NAME])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** The first folder on the way to a path that is closed to others. */
function closedFolderOf(path: string): string | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return at;
    if (at === dirname(at)) return undefined;
  }
}
