import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browserPolicies } from './browser-policies.ts';
import type { JailFolders } from './jail.ts';
import type { UnixUser } from './unprivileged-user.ts';

/** What `lstat` counts in, whatever the file system's own. */
const BLOCK_BYTES = 512;

/**
 * Makes a folder of this process, for a browser or for recordings that wait to be stored, in the system's folder for temporary
 * files: its path is short, as that of a unix socket must be, and every user may follow it.
 */
export const newHostFolder = async (kind: 'browser' | 'recordings'): Promise<string> =>
  mkdtemp(join(tmpdir(), `${kind}-${process.pid}-${await startOf(process.pid)}-`));

/** Removes the folders of processes that are gone: those that were killed could not. For the start of a host. */
export async function removeStaleFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid, start] = /^(?:browser|recordings)-(\d+)-(\d+)-\w+$/.exec(name) ?? [];
    if (pid === undefined || (await startOf(Number(pid))) === start) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** When a process started, in ticks of the kernel since its own start: ids are used again. Undefined: there is none. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/** Fills a browser's folder. What is the user's may be written by the browser: the profile alone. */
export async function furnish(folder: string, proxy: string, user: UnixUser | undefined): Promise<JailFolders> {
  const folders = {
    policies: join(folder, 'policies'),
    profile: join(folder, 'profile'),
    egress: join(folder, 'egress'),
  };
  const managed = join(folders.policies, 'managed');
  await mkdir(folders.profile, { recursive: true, mode: 0o700 });
  await mkdir(managed, { recursive: true, mode: 0o755 });
  await writeFile(join(managed, 'policies.json'), JSON.stringify(browserPolicies(proxy)), { mode: 0o644 });
  if (user) {
    // The others may pass through to what is theirs.
    await chown(folder, 0, user.gid);
    await chmod(folder, 0o710);
    await chown(folders.profile, user.uid, user.gid);
  }
  return folders;
}

/** Bytes of the files in a folder and below; those that vanish meanwhile do not count. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await folderBytes(path);
    else bytes += ((await lstat(path).catch(() => undefined))?.blocks ?? 0) * BLOCK_BYTES;
  }
  return bytes;
}
