import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type {
  CommitLine,
  FetchResult,
  GitMirrors,
  MirrorOf,
  Ref,
  Remote,
} from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { DISK_FULL, fetchFailure, isDiskFull } from '../../../domain/code/git/mirror/fetch-failure-rules.ts';
import type { OutboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { changedLines } from './git-changed-lines.ts';
import { checkOut, listedFile, sizeIn } from './git-checkout.ts';
import { COMMIT_FORMAT, CommitTexts } from './git-commit-texts.ts';
import { lastChange } from './git-last-change.ts';
import { closedEnvironment, type GitResult, type GitRun, runGit } from './git-program.ts';
import { prepareMirror, removeUnfinishedPacks } from './git-mirror-folder.ts';
import { openRemote, RefusedRemoteError, type RemoteOptions } from './git-remote.ts';

export interface GitMirrorsOptions {
  /** Holds a bare repository for each project; may be shared between machines. */
  folder: string;
  allowLocal: boolean;
  addresses: OutboundAddresses;
  log: Logger;
  program?: string;
  resolve?: RemoteOptions['resolve'];
  /** For all that git does with a remote at one time. */
  remoteTimeoutMs?: number;
}

/** Shorter than the age at which a lock counts as left behind. */
const REMOTE_TIMEOUT_MS = 12 * 60_000;

const failed = (reason: string): FetchResult => ({ outcome: 'failed', reason });

/** Mirrors as bare partial repositories (without file contents) in a folder. */
export function createGitMirrors({
  folder,
  allowLocal,
  addresses,
  log,
  program = 'git',
  resolve,
  remoteTimeoutMs = REMOTE_TIMEOUT_MS,
}: GitMirrorsOptions): GitMirrors {
  const dirOf = ({ tenantId, projectId }: MirrorOf) => join(folder, tenantId, `${projectId}.git`);
  // Without a remote's environment no transport is allowed, so that no other command fetches anything.
  const baseEnv = { ...closedEnvironment(folder), GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };
  const run = (mirror: MirrorOf, args: readonly string[], more: Partial<GitRun> = {}) =>
    runGit(program, { gitDir: dirOf(mirror), args, ...more, env: { ...baseEnv, ...more.env } });
  const must = async (mirror: MirrorOf, args: readonly string[], more: Partial<GitRun> = {}): Promise<GitResult> => {
    const result = await run(mirror, args, more);
    if (result.exitCode !== 0)
      throw new Error(`git ${args[0]} ended with ${result.exitCode}: ${result.stderr.slice(-500)}`);
    return result;
  };

  /** Runs git with access to a remote. One that does not answer in time counts as a failure of git. */
  const withRemote = async (
    mirror: MirrorOf,
    remote: Remote,
    use: (more: Pick<GitRun, 'env' | 'signal'>) => Promise<GitResult>,
    stop?: AbortSignal,
  ): Promise<GitResult> => {
    await mkdir(folder, { recursive: true });
    const clock = AbortSignal.timeout(remoteTimeoutMs);
    const signal = stop ? AbortSignal.any([stop, clock]) : clock;
    const access = await openRemote(remote, { addresses, allowLocal, folder, program, resolve }, signal);
    try {
      await prepareMirror(dirOf(mirror), { program, env: baseEnv });
      return await use({ env: access.env, signal });
    } catch (error) {
      if (clock.aborted && !stop?.aborted) return { exitCode: null, stdout: '', stderr: 'timed out' };
      throw error;
    } finally {
      await access.close();
    }
  };

  return {
    async fetch(mirror, remote, signal) {
      try {
        const options = ['--quiet', '--prune', '--force', '--no-tags', '--no-write-fetch-head', '--filter=blob:none'];
        const args = ['fetch', ...options, 'origin', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
        const result = await withRemote(mirror, remote, (access) => run(mirror, args, access), signal);
        if (result.exitCode === 0) return { outcome: 'fetched' };
        const reason = fetchFailure(result.stderr, remote);
        if (reason === DISK_FULL) await removeUnfinishedPacks(dirOf(mirror));
        log.warn({ ...mirror, exitCode: result.exitCode, reason }, 'fetch failed');
        return failed(reason);
      } catch (error) {
        if (error instanceof RefusedRemoteError) return failed(error.message);
        if (error instanceof Error && isDiskFull(error.message)) return failed(DISK_FULL);
        throw error;
      }
    },

    async refs(mirror) {
      const refs: Ref[] = [];
      const format = '%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)';
      const { stdout } = await must(mirror, ['for-each-ref', `--format=${format}`, 'refs/heads', 'refs/tags']);
      for (const line of stdout.split('\n')) {
        const [refname = '', type = '', own = '', peeledType = '', peeled = ''] = line.split('\0');
        const sha = type === 'commit' ? own : peeledType === 'commit' ? peeled : undefined;
        const [, place, name] = /^refs\/(heads|tags)\/(.+)$/s.exec(refname) ?? [];
        if (sha !== undefined && name !== undefined)
          refs.push({ kind: place === 'heads' ? 'branch' : 'tag', name, sha });
      }
      return refs;
    },

    async newCommits(mirror, tips, known) {
      if (tips.length === 0) return [];
      const input = [...tips, ...known.map((sha) => `^${sha}`), ''].join('\n');
      const { stdout } = await must(
        mirror,
        ['rev-list', '--topo-order', '--reverse', '--parents', '--ignore-missing', '--missing=allow-any', '--stdin'],
        { input },
      );
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line): CommitLine => {
          const [sha = '', ...parents] = line.split(' ');
          return { sha, parents };
        });
    },

    async present(mirror, shas) {
      const { stdout } = await must(
        mirror,
        ['rev-list', '--no-walk=unsorted', '--ignore-missing', '--missing=allow-any', '--stdin'],
        { input: `${shas.join('\n')}\n` },
      );
      return new Set(stdout.split('\n').filter(Boolean));
    },

    async commits(mirror, shas) {
      const texts = new CommitTexts();
      const args = ['log', '--no-walk=unsorted', '--stdin', '-z', '--encoding=UTF-8', COMMIT_FORMAT];
      await must(mirror, args, { input: `${shas.join('\n')}\n`, onToken: (token) => texts.add(token) });
      return texts.found;
    },

    async changedPaths(mirror, pairs, onPath) {
      let place = -1;
      let isPath = false;
      const input = pairs.map(({ sha, parent }) => (parent === null ? sha : `${sha} ${parent}`)).join('\n');
      // In the raw format a line before each path begins with a colon, so that no path can be taken for a commit.
      await must(
        mirror,
        ['diff-tree', '--stdin', '-r', '--root', '--raw', '-z', '--no-renames', '--always', '--abbrev=4'],
        {
          input: `${input}\n`,
          onToken(token) {
            if (isPath) onPath(place, token);
            else if (!token.startsWith(':')) place++;
            isPath = !isPath && token.startsWith(':');
          },
        },
      );
      if (place !== pairs.length - 1) throw new Error(`git diff-tree answered ${place + 1} of ${pairs.length} pairs`);
    },

    async compare(mirror, { base, head }, onPath) {
      const range = `${base}...${head}`;
      const counted = await run(mirror, ['rev-list', '--left-right', '--count', '--end-of-options', range, '--']);
      const [, behind, ahead] = /^(\d+)\t(\d+)/.exec(counted.stdout) ?? [];
      if (counted.exitCode !== 0 || ahead === undefined) return undefined;
      // Histories without a common commit differ as they are.
      const parted = (await run(mirror, ['merge-base', '--end-of-options', base, head])).stdout.trim() || base;
      let change: 'added' | 'deleted' | 'modified' | undefined;
      await must(
        mirror,
        ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--abbrev=4', '--end-of-options', parted, head],
        {
          onToken(token) {
            if (change) onPath(change, token);
            const letter = change === undefined ? token.at(-1) : '';
            change = change ? undefined : letter === 'A' ? 'added' : letter === 'D' ? 'deleted' : 'modified';
          },
        },
      );
      return { ahead: Number(ahead), behind: Number(behind) };
    },

    changedLines: (mirror, sides, onLines) => changedLines((args) => must(mirror, args), sides, onLines),
    async isAncestor(mirror, ancestor, sha) {
      const { exitCode } = await run(mirror, ['merge-base', '--is-ancestor', '--end-of-options', ancestor, sha]);
      return exitCode === 0;
    },

    async files(mirror, sha, onFile) {
      await must(mirror, ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', sha], {
        onToken: (entry) => onFile(listedFile(entry)),
      });
    },

    async file(mirror, remote, sha, path, maxBytes) {
      const spec = `${sha}:${path}`;
      const { stdout, exitCode } = await withRemote(mirror, remote, async ({ env, signal }) => {
        const lazily = { env: { ...env, GIT_NO_LAZY_FETCH: '0' }, signal };
        const size = await run(mirror, ['cat-file', '-s', '--end-of-options', spec], lazily);
        if (size.exitCode !== 0 || Number(size.stdout) > maxBytes) return { exitCode: 1, stdout: '', stderr: '' };
        return run(mirror, ['cat-file', 'blob', '--end-of-options', spec], lazily);
      });
      return exitCode === 0 ? stdout : undefined;
    },

    lastChange: (mirror, remote, place, stop) =>
      lastChange(
        place,
        {
          run: (args, more) => run(mirror, args, more),
          fetching: (args, whole) =>
            withRemote(
              mirror,
              remote,
              ({ env, signal }) => run(mirror, args, { env: { ...env, GIT_NO_LAZY_FETCH: '0' }, signal }),
              whole,
            ),
        },
        stop,
      ),

    sizeOf: async (mirror, blob) => sizeIn(await run(mirror, ['cat-file', '-s', '--end-of-options', blob])),

    async checkout(mirror, remote, order, stop) {
      const fetch = (args: readonly string[], input: string, whole: AbortSignal) =>
        withRemote(mirror, remote, (access) => run(mirror, args, { ...access, input }), whole);
      try {
        return await checkOut(order, { gitDir: dirOf(mirror), run: (...given) => run(mirror, ...given), fetch }, stop);
      } catch (error) {
        if (error instanceof RefusedRemoteError) return { isOk: false, reason: error.message, mayPass: true };
        throw error;
      }
    },
  };
}
