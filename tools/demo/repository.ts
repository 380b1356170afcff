import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../operator-error.ts';
import { type DemoPackage, packagesOfManifest } from './manifest-rules.ts';
import { milestoneName, versionOfTag } from './tag-rules.ts';
import { newTemporaryFolder } from './temporary-folders.ts';

const run = promisify(execFile);

/** How many of the newest milestones become candidates. */
const MILESTONES = 5;
const PACKAGES_MAX = 200;

/** A point of a history that becomes a candidate. */
export interface Milestone {
  releaseName: string;
  commitSha: string;
  tags: readonly string[];
  subject: string;
}

export interface DemoRepository {
  path: string;
  /** The path that was given; another one when `path` is a copy with the branches of its remote. */
  original: string;
  name: string;
  defaultBranch: string;
  commits: number;
  /** Packages of the newest commit, by name. */
  packages: readonly DemoPackage[];
  /** Where they are listed. */
  packagesFrom: string;
  /** The newest, oldest first. */
  milestones: readonly Milestone[];
  /** How they were chosen. */
  kind: string;
}

/** Output lines of git in a repository; names go as arguments, never through a shell. */
export async function git(repository: string, ...args: string[]): Promise<string[]> {
  try {
    const { stdout } = await run('git', ['-C', repository, '--literal-pathspecs', ...args], {
      maxBuffer: 256 * 1024 * 1024,
    });
    return stdout.split('\n').filter(Boolean);
  } catch (error) {
    const [reason] = ((error as { stderr?: string }).stderr ?? '').split('\n');
    throw new OperatorError(`git ${args[0]} failed in ${repository}: ${reason || (error as Error).message}`);
  }
}

/** Lines of git's output; none when git fails. */
export const gitIfAny = (repository: string, ...args: string[]): Promise<string[]> =>
  git(repository, ...args).catch(() => []);

/** What `git log` lists of a package between two commits, newest first. */
export const listed = (repository: string, { path }: Pick<DemoPackage, 'path'>, from: string, to: string) =>
  git(repository, 'log', '--format=%H', '--end-of-options', `${from}..${to}`, '--', ...(path === '' ? [] : [path]));

/** Reads what the demo needs to know of a repository. */
export async function readRepository(original: string, everyN: number | undefined): Promise<DemoRepository> {
  const [gitDir] = await gitIfAny(original, 'rev-parse', '--git-dir');
  if (gitDir === undefined) throw new OperatorError(`${original} is no git repository.`);
  const name = basename(original).replace(/\.git$/, '') || 'repository';
  const path = await withRemoteBranches(original, name);
  const defaultBranch = await defaultBranchOf(original);
  const [commits = '0'] = await git(path, 'rev-list', '--count', '--end-of-options', defaultBranch);
  const { packages, packagesFrom } = await packagesAt(path, defaultBranch, name);
  const names = new Set(packages.map((each) => each.name));
  return {
    path,
    original,
    name,
    defaultBranch,
    commits: Number(commits),
    packages,
    packagesFrom,
    ...(await milestonesOf(path, defaultBranch, names, everyN)),
  };
}

/** A bare copy with all refs; it borrows the objects of the repository, which stays as it is. */
export async function copyOf(path: string, name: string): Promise<string> {
  const copy = join(newTemporaryFolder(), name);
  // The service asks for no file contents, as large hosts allow; so nothing large is copied.
  const allowFilter = ['-c', 'uploadpack.allowFilter=true'];
  await git(tmpdir(), 'clone', '--quiet', '--mirror', '--shared', ...allowFilter, path, copy);
  return copy;
}

/** A clone to work in has few of its remote's branches as its own: a copy of it has them all. Local ones stay as they are. */
async function withRemoteBranches(path: string, name: string): Promise<string> {
  const own = new Set(await branchesIn(path, 'refs/heads'));
  const missing = (await branchesIn(path, ORIGIN)).filter((branch) => branch !== 'HEAD' && !own.has(branch));
  if (missing.length === 0) return path;
  const copy = await copyOf(path, name);
  for (const branch of missing) await git(copy, 'update-ref', `refs/heads/${branch}`, `${ORIGIN}/${branch}`);
  return copy;
}

const ORIGIN = 'refs/remotes/origin';

async function branchesIn(path: string, folder: string): Promise<string[]> {
  const refs = await git(path, 'for-each-ref', '--format=%(refname)', folder);
  return refs.map((ref) => ref.slice(folder.length + 1));
}

/** The branch that a clone of the remote would check out, else one of the repository. */
async function defaultBranchOf(path: string): Promise<string> {
  const [ofOrigin] = await gitIfAny(path, 'symbolic-ref', `${ORIGIN}/HEAD`);
  const [head] = await gitIfAny(path, 'symbolic-ref', '--short', 'HEAD');
  const ofRemote = (await branchesIn(path, ORIGIN)).filter((branch) => branch !== 'HEAD');
  const branches = [...(await branchesIn(path, 'refs/heads')), ...ofRemote];
  // In a clone, what is checked out is what somebody works on.
  const usual = ofRemote.length > 0 ? ['main', 'master', head] : [head, 'main', 'master'];
  const preferred = [ofOrigin?.slice(ORIGIN.length + 1), ...usual];
  const found = preferred.find((name) => name !== undefined && branches.includes(name)) ?? branches[0];
  if (found === undefined) throw new OperatorError(`${path} has no branch with a commit.`);
  return found;
}

/** The packages of a commit: of `sfdx-project.json`, else of each `package.json` that has a name, else one of everything. */
export async function packagesAt(
  path: string,
  commit: string,
  name: string,
): Promise<{ packages: DemoPackage[]; packagesFrom: string }> {
  const manifest = packagesOfManifest((await gitIfAny(path, 'show', `${commit}:sfdx-project.json`)).join('\n'));
  if (manifest && manifest.length > 0) return { packages: manifest, packagesFrom: 'sfdx-project.json' };
  const files = (await git(path, 'ls-tree', '-r', '--name-only', '--end-of-options', commit)).filter(
    (file) => basename(file) === 'package.json',
  );
  const packages = new Map<string, DemoPackage>();
  for (const file of files.slice(0, PACKAGES_MAX)) {
    try {
      const json = (await git(path, 'show', `${commit}:${file}`)).join('\n');
      const found = JSON.parse(json) as { name?: string; version?: string };
      if (found.name === undefined) continue;
      const folder = file.split('/').slice(0, -1).join('/');
      packages.set(found.name, {
        name: found.name,
        path: folder,
        versionNumber: found.version ?? null,
        dependencies: [],
      });
    } catch {
      // A fixture that is meant to be broken is no package.
    }
  }
  if (packages.size > 0) return { packages: [...packages.values()], packagesFrom: 'package.json' };
  return { packages: [{ name, path: '', versionNumber: null, dependencies: [] }], packagesFrom: 'nothing: it is one' };
}

/** The newest tagged commits, or every n-th commit of the default branch when fewer than two are tagged. */
async function milestonesOf(
  path: string,
  defaultBranch: string,
  packageNames: ReadonlySet<string>,
  everyN: number | undefined,
): Promise<Pick<DemoRepository, 'milestones' | 'kind'>> {
  const tagged = everyN === undefined ? await taggedCommits(path) : new Map<string, string[]>();
  if (tagged.size >= 2) {
    const newest = [...tagged].slice(-MILESTONES);
    const milestones = await Promise.all(
      newest.map(async ([commitSha, tags]): Promise<Milestone> => {
        const [subject = ''] = await git(path, 'log', '-1', '--format=%s', '--end-of-options', commitSha);
        return { releaseName: milestoneName(tags, packageNames), commitSha, tags, subject };
      }),
    );
    const read = milestones.filter(({ tags }) => tags.some((tag) => versionOfTag(tag, packageNames))).length;
    const without = milestones.length - read;
    return {
      milestones,
      kind: `the newest ${milestones.length} of ${tagged.size} tagged commits${without > 0 ? `, ${without} without a version in their tags` : ''}`,
    };
  }
  const commits = await git(
    path,
    'log',
    '--reverse',
    '--first-parent',
    '--format=%H%x09%cs%x09%s',
    '--end-of-options',
    defaultBranch,
  );
  const step = everyN ?? Math.max(1, Math.floor(commits.length / MILESTONES));
  const milestones = commits
    .filter((_, index) => (commits.length - 1 - index) % step === 0)
    .slice(-MILESTONES)
    .map((line): Milestone => {
      const [commitSha = '', date = '', subject = ''] = line.split('\t');
      return { releaseName: `${date}-${commitSha.slice(0, 8)}`, commitSha, tags: [], subject };
    });
  return {
    milestones,
    kind: `every ${step === 1 ? '' : `${step}th `}commit of the first parents of ${defaultBranch}, as there are no tags`,
  };
}

/** Commits with their tags, those tagged last at the end. */
async function taggedCommits(path: string): Promise<Map<string, string[]>> {
  const lines = await git(
    path,
    'for-each-ref',
    '--sort=creatordate',
    '--format=%(refname:strip=2)%09%(*objecttype)%09%(*objectname)%09%(objecttype)%09%(objectname)',
    'refs/tags',
  );
  const tagged = new Map<string, string[]>();
  for (const line of lines) {
    const [tag = '', peeledType = '', peeled = '', ownType = '', own = ''] = line.split('\t');
    // A tag may name a tree or a file.
    if ((peeledType || ownType) !== 'commit') continue;
    const commit = peeled || own;
    const before = tagged.get(commit) ?? [];
    tagged.delete(commit);
    tagged.set(commit, [...before, tag]);
  }
  return tagged;
}
