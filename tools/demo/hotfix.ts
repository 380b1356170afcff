import { commitFiles } from './commit-files.ts';
import type { DemoPackage } from './manifest-rules.ts';
import { copyOf, type DemoRepository, git, gitIfAny, type Milestone } from './repository.ts';

const IS_HOTFIX = /^(?:hotfix|patch|release|support|maintenance)\b/i;
const BRANCHES_MAX = 50;
const MADE_BRANCH = 'hotfix/demo';

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

/** Commits a file into a package's folder, from a milestone on. */
const commitFix = (copy: string, { commitSha }: Milestone, changed: DemoPackage | undefined): Promise<string> =>
  commitFiles(copy, {
    branch: MADE_BRANCH,
    onto: commitSha,
    message: `HOTFIX-1: A fix of ${changed?.name ?? 'everything'}, made by the demo`,
    files: { [[changed?.path, 'hotfix-of-the-demo.md'].filter(Boolean).join('/')]: 'A fix\n' },
  });
