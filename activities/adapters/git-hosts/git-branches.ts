import type { CreateBranch, MergeBranches } from '../../../domain/code/git-hosts/git-host.port.ts';
import { inOwnRepository, type OwnRepositoryOptions } from './own-repository.ts';

const refuse = (reason: string) => ({ isOk: false, reason }) as const;

/** Creates branches with the git program. */
export const createGitBranches =
  (options: OwnRepositoryOptions): CreateBranch =>
  ({ remote, branch, sourceRef }, signal) =>
    inOwnRepository(options, { remote, signal }, async ({ url, git }) => {
      const target = `refs/heads/${branch}`;
      if (branch.startsWith('-') || (await git('check-ref-format', target)) === undefined)
        return refuse(`${branch} is not a name for a branch`);
      const fetched = await git('fetch', '--quiet', '--depth=1', '--no-tags', '--end-of-options', url, sourceRef);
      if (fetched === undefined) return refuse(`${sourceRef} could not be fetched from the repository`);
      const commitId = await git('rev-parse', '--verify', 'FETCH_HEAD^{commit}');
      if (commitId === undefined) return refuse(`${sourceRef} names no commit`);
      const there = (await git('ls-remote', '--end-of-options', url, target))?.split('\t')[0];
      if (there === commitId) return { isOk: true, commitId };
      if (there) return refuse(`The branch ${branch} exists already, at another commit`);
      // An empty expected value: a branch that somebody creates at this moment is not overwritten.
      const lease = `--force-with-lease=${target}:`;
      const pushed = await git('push', '--quiet', lease, '--end-of-options', url, `${commitId}:${target}`);
      return pushed === undefined ? refuse(`The repository refused the branch ${branch}`) : { isOk: true, commitId };
    });

/** How many conflicting paths an answer names. */
const CONFLICTS_SHOWN = 100;

/** Merges branches with the git program, without a checkout (`git merge-tree`, git 2.38). */
export const createGitMerges =
  (options: OwnRepositoryOptions): MergeBranches =>
  ({ remote, from, to, message }, signal) =>
    inOwnRepository(options, { remote, signal }, async ({ url, run, git }) => {
      const refs = [from, to].map((branch) => `refs/heads/${branch}`);
      for (const ref of refs)
        if ((await git('check-ref-format', ref)) === undefined) return refuse(`${ref} is not the name of a branch`);
      const wanted = refs.map((ref, index) => `${ref}:refs/heads/${SIDES[index]}`);
      const fetched = await git('fetch', '--quiet', '--no-tags', '--end-of-options', url, ...wanted);
      if (fetched === undefined) {
        const listed = await git('ls-remote', '--end-of-options', url, ...refs);
        if (listed === undefined) return refuse('The repository could not be read');
        const missing = [from, to].filter(
          (_, index) => !listed.split('\n').some((line) => line.endsWith(`\t${refs[index]}`)),
        );
        if (missing.length > 0) return refuse(`The repository has no branch ${missing.join(' and no ')}`);
        throw new Error(`${from} and ${to} are there, and could not be fetched`);
      }
      const [theirs = '', ours = ''] = await Promise.all(SIDES.map(async (side) => git('rev-parse', side)));
      if ((await git('merge-base', '--is-ancestor', theirs, ours)) !== undefined)
        return { isOk: true, outcome: 'up_to_date', commitId: ours };
      const merged = await run('merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs);
      const [tree = '', ...conflicts] = merged.stdout.split('\0').filter((part) => part !== '');
      if (merged.exitCode === 1)
        return {
          isOk: true,
          outcome: 'conflicts',
          paths: conflicts.slice(0, CONFLICTS_SHOWN),
          total: conflicts.length,
        };
      if (merged.exitCode !== 0) return refuse(`${from} cannot be merged into ${to}: they have no common history`);
      const isForward = (await git('merge-base', '--is-ancestor', ours, theirs)) !== undefined;
      const commitId = isForward
        ? theirs
        : await git(...COMMITTER, 'commit-tree', tree, '-p', ours, '-p', theirs, '-m', message);
      if (commitId === undefined) return refuse(`The merge of ${from} into ${to} could not be committed`);
      const target = `refs/heads/${to}`;
      const lease = `--force-with-lease=${target}:${ours}`;
      const pushed = await git('push', '--quiet', lease, '--end-of-options', url, `${commitId}:${target}`);
      if (pushed !== undefined) return { isOk: true, outcome: 'merged', commitId };
      // An answer that was lost says nothing: the branch does.
      const tip = (await git('ls-remote', '--end-of-options', url, target))?.split('\t')[0];
      if (tip === undefined) throw new Error(`whether ${to} was pushed is not known`);
      return { isOk: true, ...(tip === commitId ? { outcome: 'merged', commitId } : { outcome: 'refused' }) };
    });

const SIDES = ['theirs', 'ours'];
const COMMITTER = ['-c', 'user.name=Quayside', '-c', 'user.email=quayside@noreply.invalid'];
