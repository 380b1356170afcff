import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CreateBranch } from '../../domain/git-hosts/branches.port.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 120_000;

/** Makes branches with git itself, in a folder that lives as long as the call. No configuration but its own is read. */
export const createGitBranches =
  ({ allowLocal }: { allowLocal: boolean }): CreateBranch =>
  async ({ remoteUrl, branch, sourceRef }, signal) => {
    const folder = await mkdtemp(join(tmpdir(), 'quayside-git-'));
    const git = async (...args: string[]): Promise<string> => {
      const { stdout } = await run('git', args, {
        cwd: folder,
        timeout: TIMEOUT_MS,
        signal,
        env: {
          PATH: process.env.PATH ?? '/usr/bin:/bin',
          HOME: folder,
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_TERMINAL_PROMPT: '0',
          GIT_ALLOW_PROTOCOL: allowLocal ? 'https:ssh:file' : 'https:ssh',
        },
      });
      return stdout.trim();
    };
    const refuse = (reason: string) => ({ isOk: false, reason }) as const;
    try {
      const target = `refs/heads/${branch}`;
      if (!(await succeeds(git('check-ref-format', target))) || branch.startsWith('-')) return refuse(`${branch} is not a name for a branch`);
      await git('init', '--quiet', '--bare');
      if (!(await succeeds(git('fetch', '--quiet', '--depth=1', '--no-tags', '--end-of-options', remoteUrl, sourceRef)))) {
        signal.throwIfAborted();
        return refuse(`${sourceRef} could not be fetched from the repository`);
      }
      const commitId = await git('rev-parse', '--verify', 'FETCH_HEAD^{commit}');
      const there = (await git('ls-remote', '--end-of-options', remoteUrl, target)).split('\t')[0] ?? '';
      if (there === commitId) return { isOk: true, commitId };
      if (there !== '') return refuse(`The branch ${branch} is there already, at another commit`);
      // An empty expected value: somebody who creates the branch in this moment wins, and is not overwritten.
      const pushed = await succeeds(git('push', '--quiet', `--force-with-lease=${target}:`, '--end-of-options', remoteUrl, `${commitId}:${target}`));
      signal.throwIfAborted();
      return pushed ? { isOk: true, commitId } : refuse(`The repository refused the branch ${branch}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}
