import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DemoPackage } from './manifest-rules.ts';
import { copyOf, type DemoRepository, git, gitIfAny, type Milestone } from './repository.ts';

const run = promisify(execFile);
const IS_HOTFIX = /^(?:hotfix|patch|release|support|maintenance)\b/i;
const BRANCHES_MAX = 50;
const MADE_BRANCH = 'hotfix/demo';
const PERSON = { NAME: 'Quayside demo', EMAIL: 'demo@quayside.invalid', DATE: '2026-01-05T09:00:00Z' };

/** A branch that left the main line, with a fix that the newest milestone does not have. */
export interface Hotfix {
  branch: string;
  commitSha: string;
  /** It was made for the demo, in a copy of the repository. */
  isMade: boolean;
}

/**
 * Finds a branch with fixes that the newest milestone lacks. Where there is none, one is made in a copy of the
 * repository, from the milestone before; the repository itself stays as it is.
 * @returns the path of the repository to use, and the hotfix; undefined where one cannot be had.
 */
export async function findHotfix(repository: DemoRepository): Promise<{ path: string; hotfix: Hotfix | undefined }> {
  const { path, milestones, packages, defaultBranch } = repository;
  const [before, newest] = milestones.slice(-2);
  if (!before || !newest) return { path, hotfix: undefined };
  const branches = await git(
    path,
    'for-each-ref',
    '--sort=-committerdate',
    '--format=%(refname:short)%09%(objectname)',
    'refs/heads',
  );
  const folders = packages.map((each) => each.path).filter((folder) => folder !== '');
  for (const line of branches.slice(0, BRANCHES_MAX)) {
    const [branch = '', commitSha = ''] = line.split('\t');
    if (branch === defaultBranch || !IS_HOTFIX.test(branch)) continue;
    const own = await git(path, 'rev-list', '--max-count=1', `${newest.commitSha}..${commitSha}`, '--', ...folders);
    const [base] = await gitIfAny(path, 'merge-base', newest.commitSha, commitSha);
    if (own.length > 0 && base !== undefined) return { path, hotfix: { branch, commitSha, isMade: false } };
  }
  const copy = await copyOf(path, repository.name);
  const changed = await lastChanged(path, packages, before, newest);
  const commitSha = await commitFix(copy, before, changed);
  return { path: copy, hotfix: { branch: MADE_BRANCH, commitSha, isMade: true } };
}

/** A package that differs between two milestones, so that a fix of the older one shows both sides. */
async function lastChanged(
  path: string,
  packages: readonly DemoPackage[],
  before: Milestone,
  newest: Milestone,
): Promise<DemoPackage | undefined> {
  for (const each of packages) {
    const folder = each.path === '' ? [] : [each.path];
    const changes = await git(
      path,
      'rev-list',
      '--max-count=1',
      `${before.commitSha}..${newest.commitSha}`,
      '--',
      ...folder,
    );
    if (changes.length > 0) return each;
  }
  return packages[0];
}

/** Commits a file into a package's folder, from a milestone on, without a work tree. */
async function commitFix(copy: string, { commitSha }: Milestone, changed: DemoPackage | undefined): Promise<string> {
  const env = {
    ...process.env,
    GIT_INDEX_FILE: join(copy, 'demo-index'),
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) =>
        Object.entries(PERSON).map(([what, value]) => [`GIT_${role}_${what}`, value]),
      ),
    ),
  };
  const own = async (...args: string[]) => (await run('git', ['-C', copy, ...args], { env })).stdout.trim();
  await own('read-tree', commitSha);
  // Any content does, and the manifest is one that is there.
  const blob = (await own('ls-tree', '-r', '--format=%(objectname)', commitSha)).split('\n')[0] ?? '';
  const file = [changed?.path, 'hotfix-of-the-demo.md'].filter(Boolean).join('/');
  await own('update-index', '--add', '--cacheinfo', `100644,${blob},${file}`);
  const made = await own(
    'commit-tree',
    await own('write-tree'),
    '-p',
    commitSha,
    '-m',
    `HOTFIX-1: A fix of ${changed?.name ?? 'everything'}, made by the demo`,
  );
  await own('update-ref', `refs/heads/${MADE_BRANCH}`, made);
  rmSync(env.GIT_INDEX_FILE);
  return made;
}
