import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { RemotePolicy } from '../../../domain/projects/remotes/remote-policy.ts';
import { closedEnvironment, type GitResult, runGit } from '../git/git-program.ts';
import { openRemote, RefusedRemoteError, type RemoteOptions } from '../git/git-remote.ts';

/** `folder` keeps the keys of ssh hosts. */
export type OwnRepositoryOptions = RemotePolicy & Pick<RemoteOptions, 'folder' | 'resolve'> & { program?: string };

/** Git in an empty repository beside a remote. */
export interface OwnRepository {
  /** Address of the remote, for commands that take one. */
  url: string;
  run: (...args: string[]) => Promise<GitResult>;
  /** What git printed, or undefined when it failed. */
  git: (...args: string[]) => Promise<string | undefined>;
}

/** Works in a bare repository that exists as long as the call. A remote that is refused is a result. */
export async function inOwnRepository<Result>(
  { program = 'git', ...options }: OwnRepositoryOptions,
  { remote, signal }: { remote: Remote; signal: AbortSignal },
  work: (repository: OwnRepository) => Promise<Result>,
): Promise<Result | { isOk: false; reason: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-git-'));
  const env = closedEnvironment(folder);
  let close = async () => {};
  const run = (...args: string[]) => runGit(program, { gitDir: join(folder, 'own.git'), args, env, signal });
  try {
    const access = await openRemote(remote, { ...options, program }, signal);
    close = access.close;
    Object.assign(env, access.env);
    await run('init', '--quiet', '--bare');
    return await work({
      url: access.url,
      run,
      async git(...args) {
        const { exitCode, stdout } = await run(...args);
        return exitCode === 0 ? stdout.trim() : undefined;
      },
    });
  } catch (error) {
    if (error instanceof RefusedRemoteError) return { isOk: false, reason: error.message };
    throw error;
  } finally {
    await close();
    await rm(folder, { recursive: true, force: true });
  }
}
