import { type ChildProcess, spawn } from 'node:child_process';

export interface GitRun {
  gitDir: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Written to standard input. */
  input?: string;
  signal?: AbortSignal | undefined;
  /** Called with each part of the output that ends with NUL; without it the output is collected. */
  onToken?: (token: string) => void;
}

export interface GitResult {
  exitCode: number | null;
  stdout: string;
  /** The end of standard error. It may contain addresses and paths: people are shown what `gitReason` makes of it. */
  stderr: string;
}

const STDERR_MAX = 16_000;
const STDOUT_MAX = 256 * 1024 * 1024;

/** Ignores the machine's configuration, prompts nobody, and runs no other programs. */
export const closedEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: home,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
});

/** Configuration by environment variables, which, unlike arguments, other users of the machine cannot read. */
export function configuration(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings);
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(entries.length)],
    ...entries.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]) as Record<string, string>;
}

const versions = new Map<string, Promise<readonly number[]>>();

/** Whether a git program has at least this version. Asked once per program and process. */
export async function isAtLeast(program: string, major: number, minor: number): Promise<boolean> {
  let version = versions.get(program);
  if (!version) {
    version = runGit(program, { gitDir: '/dev/null', args: ['version'], env: closedEnvironment('/') }).then(
      ({ stdout }) => (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number),
    );
    versions.set(program, version);
    version.catch(() => versions.delete(program));
  }
  const [foundMajor = 0, foundMinor = 0] = await version;
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}

/** Time for git to remove its lock and temporary files after it was told to end. */
const END_GRACE_MS = 2_000;

/** Ends git and what it started: a transport that waits for its server would go on without git. */
function endGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * Runs git by argument vector, never through a shell. Resolves with whatever exit code; rejects when it cannot be run, and
 * with the reason of `signal` when that ended it.
 */
export function runGit(
  program: string,
  { gitDir, args, env = {}, input, signal, onToken }: GitRun,
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [`--git-dir=${gitDir}`, ...args], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own, so that it can be ended with all that it started.
      detached: true,
    });
    const onAbort = () => {
      endGroup(child, 'SIGTERM');
      setTimeout(() => endGroup(child, 'SIGKILL'), END_GRACE_MS).unref();
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    const collected: Buffer[] = [];
    let collectedBytes = 0;
    let rest: Buffer = Buffer.alloc(0);
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (onToken) {
        rest = tokens(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), onToken);
        return;
      }
      collectedBytes += chunk.length;
      if (collectedBytes > STDOUT_MAX) endGroup(child, 'SIGTERM');
      else collected.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_MAX);
    });
    child.on('error', reject);
    child.on('close', (exitCode) => {
      signal?.removeEventListener('abort', onAbort);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve({ exitCode, stdout: Buffer.concat(collected).toString('utf8'), stderr });
    });
    // It may end before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

function tokens(bytes: Buffer, onToken: (token: string) => void): Buffer {
  let start = 0;
  for (let end = bytes.indexOf(0, start); end >= 0; end = bytes.indexOf(0, start)) {
    onToken(bytes.toString('utf8', start, end));
    start = end + 1;
  }
  return bytes.subarray(start);
}
