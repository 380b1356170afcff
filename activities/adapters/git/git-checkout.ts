import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout, CheckoutOrder, ListedFile } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { GitResult, GitRun } from './git-program.ts';

interface CheckoutMeans {
  gitDir: string;
  /** Runs git without any remote. */
  run: (args: readonly string[], more?: Partial<GitRun>) => Promise<GitResult>;
  /** Runs git with access to the remote of the mirror. */
  fetch: (args: readonly string[], input: string, signal: AbortSignal) => Promise<GitResult>;
}

interface FileEntry {
  mode: string;
  blob: string;
  path: string;
}

const REGULAR_FILE = /^(100(?:644|755)) blob ([0-9a-f]+)\t(.+)$/s;
/** Names that git does not write, or that would lead out of the folder; what is no UTF-8 is read with U+FFFD. */
const UNWRITABLE = /(^|\/)(\.{0,2}|\.git|git~1)(\/|$)|\uFFFD/i;
/** Asks for exactly these objects, as git does when it reads one that is missing. */
const FETCH = [
  '-c',
  'fetch.negotiationAlgorithm=noop',
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--recurse-submodules=no',
  '--filter=blob:none',
  '--stdin',
  'origin',
];
const WATCH_MS = 1_000;

const refused = (reason: string): Checkout => ({ isOk: false, reason });

const TREE_ENTRY = /^(\d+) \w+ ([0-9a-f]+)\t(.+)$/s;

/** What `ls-tree` says of a path. */
export function listedFile(entry: string): ListedFile {
  const [, mode = '', blob = '', path = ''] = TREE_ENTRY.exec(entry) ?? [];
  return { path, kind: mode === '120000' ? 'link' : mode === '160000' ? 'submodule' : 'file', blob };
}

/** What `cat-file -s` answers; undefined where the mirror lacks the content. */
export const sizeIn = ({ stdout, exitCode }: GitResult): number | undefined =>
  exitCode === 0 ? Number(stdout) : undefined;

/** Puts the regular files of a commit into an empty folder; what the mirror lacks of them is fetched in one go. */
export async function checkOut(
  { sha, folder, isLeftOut, whyTooLarge }: CheckoutOrder,
  { gitDir, run, fetch }: CheckoutMeans,
  signal: AbortSignal,
): Promise<Checkout> {
  const local = (args: readonly string[], more: Partial<GitRun> = {}) => run(args, { ...more, signal });
  const files: FileEntry[] = [];
  let leftOut = 0;
  let count = 0;
  const listed = await local(['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', sha], {
    onToken(entry) {
      const [, mode, blob, path] = REGULAR_FILE.exec(entry) ?? [];
      if (mode === undefined || blob === undefined || path === undefined || UNWRITABLE.test(path) || isLeftOut(path)) {
        leftOut++;
        return;
      }
      count++;
      if (whyTooLarge({ files: count, bytes: 0 }) === undefined) files.push({ mode, blob, path });
    },
  });
  if (listed.exitCode !== 0) return refused(`The repository has no commit ${sha}`);
  const tooMany = whyTooLarge({ files: count, bytes: 0 });
  if (tooMany !== undefined) return refused(tooMany);
  const sizes = async () => {
    const { stdout } = await local(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
      input: files.map(({ blob }) => `${blob}\n`).join(''),
    });
    return new Map(stdout.split('\n').map((line) => line.split(' ') as [string, string]));
  };
  let sizeOf = await sizes();
  const missing = [...new Set(files.map(({ blob }) => blob))].filter((blob) => !isSize(sizeOf.get(blob)));
  if (missing.length > 0) {
    const problem = await fetchMissing(
      missing,
      (bytes) => whyTooLarge({ files: count, bytes }),
      { gitDir, fetch },
      signal,
    );
    if (problem) return problem;
    sizeOf = await sizes();
  }
  let bytes = 0;
  for (const { blob } of files) {
    const size = sizeOf.get(blob);
    if (!isSize(size)) return refused('The remote does not have all files of the commit');
    bytes += Number(size);
  }
  const tooLarge = whyTooLarge({ files: count, bytes });
  if (tooLarge !== undefined) return refused(tooLarge);
  const env = { GIT_INDEX_FILE: `${folder}.index`, GIT_WORK_TREE: folder };
  const input = files.map(({ mode, blob, path }) => `${mode} ${blob}\t${path}\0`).join('');
  for (const step of [
    { args: ['update-index', '-z', '--index-info'], input },
    { args: ['checkout-index', '--all', '--force', '--quiet'] },
  ]) {
    const { exitCode } = await local(step.args, { env, ...(step.input !== undefined && { input: step.input }) });
    if (exitCode !== 0) return refused('The commit has files that cannot be written');
  }
  return { isOk: true, files: count, leftOut, bytes };
}

const isSize = (text: string | undefined): text is string => text !== undefined && /^\d+$/.test(text);

/** Reports the size of what is being received, as git does not know it beforehand. */
function watchPacks(gitDir: string, report: (bytes: number) => void): NodeJS.Timeout {
  const folder = join(gitDir, 'objects', 'pack');
  const measure = async () => {
    const names = (await readdir(folder)).filter((name) => name.startsWith('tmp_pack_'));
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(folder, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    report(Math.max(0, ...sizes));
  };
  return setInterval(() => void measure().catch(() => undefined), WATCH_MS);
}

/** Fetches files that the mirror lacks; answers why they are not there, or undefined. @param whyTooLarge for what has come so far. */
async function fetchMissing(
  missing: readonly string[],
  whyTooLarge: (bytes: number) => string | undefined,
  { gitDir, fetch }: Pick<CheckoutMeans, 'gitDir' | 'fetch'>,
  signal: AbortSignal,
): Promise<Checkout | undefined> {
  const tooLarge = new AbortController();
  const watch = watchPacks(gitDir, (bytes) => {
    if (whyTooLarge(bytes) !== undefined) tooLarge.abort();
  });
  try {
    const input = missing.map((blob) => `${blob}\n`).join('');
    const fetched = await fetch(FETCH, input, AbortSignal.any([signal, tooLarge.signal]));
    if (fetched.exitCode === 0) return undefined;
    return { isOk: false, reason: 'The files of the commit could not be fetched from the remote', mayPass: true };
  } catch (error) {
    const reason = whyTooLarge(Number.MAX_SAFE_INTEGER);
    if (tooLarge.signal.aborted && !signal.aborted && reason !== undefined) return refused(reason);
    throw error;
  } finally {
    clearInterval(watch);
  }
}
