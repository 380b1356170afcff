import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateBranch } from '../../../domain/code/git-hosts/git-host.port.ts';
import type { RemotePolicy } from '../../../domain/projects/remotes/remote-policy.ts';
import { closedEnvironment, runGit } from '../git/git-program.ts';
import { openRemote, RefusedRemoteError, type RemoteOptions } from '../git/git-remote.ts';

/**
 * Creates branches with the git program, in a repository that exists as long as the call. `folder` keeps the keys of ssh
 * hosts.
 */
export const createGitBranches =
  ({
    program = 'git',
    ...options
  }: RemotePolicy & Pick<RemoteOptions, 'folder' | 'resolve'> & { program?: string }): CreateBranch =>
  async ({ remote, branch, sourceRef }, signal) => {
    const refuse = (reason: string) => ({ isOk: false, reason }) as const;
    const folder = await mkdtemp(join(tmpdir(), 'quayside-git-'));
    const env = closedEnvironment(folder);
    let close = async () => {};
    /** What git printed, or undefined when it failed. */
    const git = async (...args: string[]): Promise<string | undefined> => {
      const { exitCode, stdout } = await runGit(program, { gitDir: join(folder, 'branch.git'), args, env, signal });
      return exitCode === 0 ? stdout.trim() : undefined;
    };
    try {
      const access = await openRemote(remote, { ...options, program }, signal);
      close = access.close;
      Object.assign(env, access.env);
      const target = `refs/heads/${branch}`;
      if (branch.startsWith('-') || (await git('check-ref-format', target)) === undefined)
        return refuse(`${branch} is not a name for a branch`);
      await git('init', '--quiet', '--bare');
      if (
        (await git('fetch', '--quiet', '--depth=1', '--no-tags', '--end-of-options', access.url, sourceRef)) ===
        undefined
      ) {
        return refuse(`${sourceRef} could not be fetched from the repository`);
      }
      const commitId = await git('rev-parse', '--verify', 'FETCH_HEAD^{commit}');
      if (commitId === undefined) return refuse(`${sourceRef} names no commit`);
      const there = (await git('ls-remote', '--end-of-options', access.url, target))?.split('\t')[0];
      if (there === commitId) return { isOk: true, commitId };
      if (there) return refuse(`The branch ${branch} exists already, at another commit`);
      // An empty expected value: a branch that somebody creates at this moment is not overwritten.
      const pushed = await git(
        'push',
        '--quiet',
        `--force-with-lease=${target}:`,
        '--end-of-options',
        access.url,
        `${commitId}:${target}`,
      );
      return pushed === undefined ? refuse(`The repository refused the branch ${branch}`) : { isOk: true, commitId };
    } catch (error) {
      if (error instanceof RefusedRemoteError) return refuse(error.message);
      throw error;
    } finally {
      await close();
      await rm(folder, { recursive: true, force: true });
    }
  };
