import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import { type GitRun, runGit } from './git-program.ts';

interface GitSetup {
  program: string;
  env: NonNullable<GitRun['env']>;
}

/** Longer than any fetch may take: a lock of this age was left by a process that was killed. */
const STALE_LOCK_MS = 15 * 60_000;

/**
 * A bare repository of commits and folders, which fetches the contents of files from its remote when they are read. The
 * address of the remote comes with each command, so that none is called that was registered before.
 */
const MIRROR_SETTINGS = `[core]
\trepositoryformatversion = 1
\tbare = true
[extensions]
\tpartialClone = origin
[remote "origin"]
\tpromisor = true
\tpartialclonefilter = blob:none
`;

/** Makes a folder a mirror that git can fetch into, whatever a process that was killed left there. */
export async function prepareMirror(gitDir: string, setup: GitSetup): Promise<void> {
  const exists = await stat(join(gitDir, 'HEAD')).then(
    () => true,
    () => false,
  );
  if (!exists) await create(gitDir, setup);
  const file = join(gitDir, 'config');
  const now = await readFile(file, 'utf8').catch(() => '');
  if (now !== MIRROR_SETTINGS) {
    const written = `${file}.${newId()}`;
    await writeFile(written, MIRROR_SETTINGS);
    await rename(written, file);
  }
  await removeStale(gitDir);
}

/** Created beside its place and renamed: another process may be creating it, too. */
async function create(gitDir: string, { program, env }: GitSetup): Promise<void> {
  const aside = `${gitDir}.${newId()}`;
  await mkdir(aside, { recursive: true });
  const { exitCode, stderr } = await runGit(program, {
    gitDir: aside,
    args: ['init', '--quiet', '--bare', '--initial-branch=main'],
    env,
  });
  if (exitCode !== 0) throw new Error(`git init ended with ${exitCode}: ${stderr.slice(-500)}`);
  await rename(aside, gitDir).catch(() => rm(aside, { recursive: true, force: true }));
}

/** Lock files of a git process that was killed block every later one. */
async function removeStale(gitDir: string): Promise<void> {
  const names = (await readdir(gitDir, { recursive: true })).filter((name) => name.endsWith('.lock'));
  for (const name of names) {
    const path = join(gitDir, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > STALE_LOCK_MS) await rm(path, { force: true });
  }
}

/** What an interrupted fetch had received; after the disk was full, this is the space that is missing. */
export async function removeUnfinishedPacks(gitDir: string): Promise<void> {
  const packs = join(gitDir, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  await Promise.all(
    names.filter((name) => name.startsWith('tmp_')).map((name) => rm(join(packs, name), { force: true })),
  );
}
