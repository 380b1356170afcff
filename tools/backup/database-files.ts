import { chmodSync, chownSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresAccount } from '../postgres-account.ts';
import { withClient } from '../with-client.ts';

/** Folders of which only the name is copied: the server fills them anew. https://www.postgresql.org/docs/18/continuous-archiving.html */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const OMITTED = /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init.*)$/;

/**
 * Copies the files of a running database to a folder from which a server starts as after a crash, by the server's own
 * interface for copies while it runs.
 */
export const copyDatabaseFiles = (url: string, databaseDir: string, target: string): Promise<void> =>
  withClient(url, async (client) => {
    // Keeps the log that the copy needs, until this connection ends.
    await client.query(`select pg_create_physical_replication_slot($1, true, true)`, [`backup_${process.pid}`]);
    await client.query(`select pg_backup_start('quayside', true)`);
    copyTree(databaseDir, target, true);
    const { rows } = await client.query<{ label: string }>('select labelfile as label from pg_backup_stop(false)');
    const label = rows[0]?.label ?? '';
    writeFileSync(join(target, 'backup_label'), label, { mode: 0o600 });
    copyLog(join(databaseDir, 'pg_wal'), join(target, 'pg_wal'), /\(file ([0-9A-F]{24})\)/.exec(label)?.[1] ?? '');
  });

function copyTree(from: string, to: string, isRoot = false): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (OMITTED.test(entry.name)) continue;
    if (entry.isDirectory()) {
      if (isRoot && EMPTIED.has(entry.name)) mkdirSync(target, { mode: 0o700 });
      else copyTree(source, target);
    } else copyIfThere(source, target);
  }
}

/** Segments of the log from the one in which the copy began; their names sort by position. */
function copyLog(from: string, to: string, first: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from))
    if (/^[0-9A-F]{24}$/.test(name) && name >= first) copyIfThere(join(from, name), join(to, name));
}

/** The server removes files while it runs: its log says what became of them. */
function copyIfThere(source: string, target: string): void {
  try {
    copyFileSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(source)) throw error;
  }
}

/** Puts copied files where the server finds them, as those of the account that it runs as. */
export async function placeDatabaseFiles(from: string, databaseDir: string): Promise<void> {
  cpSync(from, databaseDir, { recursive: true });
  chmodSync(databaseDir, 0o700);
  const { owner } = await postgresAccount([databaseDir]);
  if (!owner) return;
  for (const path of ['', ...readdirSync(databaseDir, { recursive: true, encoding: 'utf8' })])
    chownSync(join(databaseDir, path), owner.uid, owner.gid);
}
