import { spawn } from 'node:child_process';

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
  /** The end of standard error. It may contain addresses and paths, so it only serves to classify failures. */
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

/** Runs git by argument vector, never through a shell. Resolves with whatever exit code; rejects when it cannot be run. */
export function runGit(
  program: string,
  { gitDir, args, env = {}, input, signal, onToken }: GitRun,
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [`--git-dir=${gitDir}`, ...args], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(signal && { signal }),
    });
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
      if (collectedBytes > STDOUT_MAX) child.kill();
      else collected.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_MAX);
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout: Buffer.concat(collected).toString('utf8'), stderr }));
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
