import type { ChangedPlace, LastChange } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { GitResult, GitRun } from './git-program.ts';

interface MirrorGit {
  run: (args: readonly string[], more?: Partial<GitRun>) => Promise<GitResult>;
  /** Runs git so that it fetches what the mirror lacks. */
  fetching: (args: readonly string[], signal: AbortSignal) => Promise<GitResult>;
}

/** The lines of a file are in contents that a mirror may have to fetch, one after the other. */
const TIMEOUT_MS = 15_000;
const SUBJECT_MAX = 300;
const FIELDS = '--format=%H%x00%an%x00%at%x00%s';

/** Ends what takes too long; `stop` alone ends what asked for it. */
interface Time {
  stop: AbortSignal;
  signal: AbortSignal;
}
const within = (stop: AbortSignal): Time => ({
  stop,
  signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]),
});

/** The commit that changed a line of a file last, or the file where the line cannot be told. */
export async function lastChange(
  { sha, path, line }: ChangedPlace,
  { run, fetching }: MirrorGit,
  stop: AbortSignal,
): Promise<LastChange | undefined> {
  if (line !== null) {
    const blamed = await blame([`-L${line},${line}`, sha, '--', path], fetching, within(stop));
    if (blamed) return blamed;
  }
  const log = { env: { GIT_LITERAL_PATHSPECS: '1' }, ...within(stop) };
  const { stdout } = await orNothing(log, () =>
    run(['log', '-1', '--encoding=UTF-8', FIELDS, sha, '--', path], { env: log.env, signal: log.signal }),
  );
  const [commitSha = '', author = '', at = '', subject = ''] = stdout.trimEnd().split('\0');
  return commitSha === '' ? undefined : changeOf({ sha: commitSha, author, at, subject });
}

async function blame(
  args: readonly string[],
  fetching: MirrorGit['fetching'],
  time: Time,
): Promise<LastChange | undefined> {
  const { stdout } = await orNothing(time, () =>
    fetching(['blame', '--porcelain', '--encoding=UTF-8', ...args], time.signal),
  );
  const [first = '', ...headers] = stdout.split('\n');
  const header = (name: string): string =>
    headers.find((each) => each.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const [sha = ''] = first.split(' ');
  if (!/^[0-9a-f]{40,64}$/.test(sha)) return undefined;
  return changeOf({ sha, author: header('author'), at: header('author-time'), subject: header('summary') });
}

/** What git says; nothing where it fails or takes too long. */
async function orNothing({ stop, signal }: Time, git: () => Promise<GitResult>): Promise<Pick<GitResult, 'stdout'>> {
  try {
    const result = await git();
    return result.exitCode === 0 ? result : { stdout: '' };
  } catch (error) {
    stop.throwIfAborted();
    if (signal.aborted) return { stdout: '' };
    throw error;
  }
}

const changeOf = ({ sha, author, at, subject }: Omit<LastChange, 'at'> & { at: string }): LastChange => ({
  sha,
  author: author.slice(0, SUBJECT_MAX).toWellFormed(),
  subject: subject.slice(0, SUBJECT_MAX).toWellFormed(),
  at: new Date(Number(at) * 1_000).toISOString(),
});
