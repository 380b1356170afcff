import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A repository on disk that plays the remote. */
export interface TestRepository {
  path: string;
  /** Output of git in it, without the last line break. */
  git: (args: readonly string[], input?: string) => string;
  /** Lines of the output. */
  lines: (args: readonly string[], input?: string) => string[];
  /** What git itself lists for a range and paths, newest first. */
  log: (from: string | null, to: string, paths?: readonly string[]) => string[];
  /** The commit at the end of a branch; undefined: there is no such branch. */
  tip: (branch: string) => string | undefined;
  /** Sets tags to commits, by their names. */
  tag: (commits: Readonly<Record<string, string>>) => void;
  /** Commits some files on a branch, without a work tree; answers the commit's id. A file of null is removed. */
  commit: (options: NewCommit) => string;
  remove: () => void;
}

export interface NewCommit {
  branch?: string;
  message?: string;
  files?: Record<string, string | null>;
  /** Further parents beside the branch's tip. */
  merge?: readonly string[];
  /** Starts from here instead of the branch's tip; null: a root. */
  from?: string | null;
  /** Seconds since the epoch. */
  time?: number;
}

const IDENTITY = 'Dana Döring <dana@example.com>';
const EPOCH = 1_767_225_600;

const made = new Set<TestRepository>();

/** Removes all repositories that tests of this process have made. */
export function removeRepositories(): void {
  for (const repository of made) repository.remove();
  made.clear();
}

/** An empty bare repository, closed to the configuration of this machine. */
export function newRepository(): TestRepository {
  const path = mkdtempSync(join(tmpdir(), 'quayside-repository-'));
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_COMMITTER_NAME: 'Dana',
    GIT_COMMITTER_EMAIL: 'dana@example.com',
  };
  const git: TestRepository['git'] = (args, input) =>
    execFileSync('git', ['-C', path, ...args], {
      env,
      maxBuffer: 1 << 30,
      encoding: 'utf8',
      ...(input !== undefined && { input }),
    }).replace(/\n$/, '');
  const lines: TestRepository['lines'] = (args, input) => git(args, input).split('\n').filter(Boolean);
  git(['init', '-q', '--bare', '--initial-branch=main']);
  git(['config', 'uploadpack.allowFilter', 'true']);
  let clock = EPOCH;
  // A branch that was just written is a file of its own, which takes no process to read.
  const tip = (branch: string) => {
    const file = join(path, 'refs/heads', branch);
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return readFileSync(file, 'utf8').trim();
    if (!existsSync(join(path, 'packed-refs'))) return undefined;
    return lines(['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`])[0];
  };
  const repository: TestRepository = {
    path,
    git,
    lines,
    log: (from, to, paths = []) =>
      lines([
        '--literal-pathspecs',
        'log',
        '--format=%H',
        from === null ? to : `${from}..${to}`,
        ...(paths.length > 0 ? ['--', ...paths] : []),
      ]),
    tip,
    tag(commits) {
      const updates = Object.entries(commits).map(([name, sha]) => `update refs/tags/${name} ${sha}\n`);
      git(['update-ref', '--stdin'], updates.join(''));
    },
    commit({
      branch = 'main',
      message = 'A change',
      files = {},
      merge = [],
      from = tip(branch) ?? null,
      time = (clock +=
        60),
    }) {
      fastImport(git, [commitCommand({ ref: `refs/heads/${branch}`, message, time, from, merge, files })]);
      return tip(branch) ?? '';
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  made.add(repository);
  return repository;
}

interface CommitCommand {
  ref: string;
  mark?: number;
  message: string;
  time: number;
  from: string | null;
  merge: readonly string[];
  files: Record<string, string | null>;
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
const quoted = (path: string) => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const commitCommand = ({ ref, mark, message, time, from, merge, files }: CommitCommand): string =>
  [
    from === null ? `reset ${ref}\n\n` : '',
    `commit ${ref}\n`,
    mark === undefined ? '' : `mark :${mark}\n`,
    `author ${IDENTITY} ${time} +0100\ncommitter ${IDENTITY} ${time} +0100\n`,
    data(message),
    from === null ? '' : `from ${from}\n`,
    ...merge.map((parent) => `merge ${parent}\n`),
    ...Object.entries(files).map(([path, content]) =>
      content === null ? `D ${quoted(path)}\n` : `M 100644 inline ${quoted(path)}\n${data(content)}`,
    ),
    '\n',
  ].join('');

const fastImport = (git: TestRepository['git'], commands: readonly string[]) =>
  git(['fast-import', '--quiet', '--force'], commands.join(''));

/** Has git note which paths each commit changes: it lists those of a path in a long history in a third of the time. */
const indexPaths = (git: TestRepository['git']) => git(['commit-graph', 'write', '--reachable', '--changed-paths']);

export interface LineCommit {
  message: string;
  /** Seconds since the epoch. */
  time: number;
  files: Record<string, string>;
  tag?: string;
  /** It is made on a branch that began one commit earlier, and comes in by a merge with this message. */
  mergeAs?: string;
}

/** Puts commits behind one another on the main line. */
export function importCommits({ git }: Pick<TestRepository, 'git'>, commits: readonly LineCommit[]): void {
  const ref = 'refs/heads/main';
  const commands: string[] = [];
  let mark = 0;
  let [tip, before]: [string | null, string | null] = [null, null];
  for (const { message, time, files, tag, mergeAs } of commits) {
    const own = `:${++mark}`;
    const isBranch = mergeAs !== undefined && before !== null;
    commands.push(
      commitCommand({
        ref: isBranch ? 'refs/heads/side' : ref,
        mark,
        message,
        time,
        from: isBranch ? before : tip,
        merge: [],
        files,
      }),
    );
    if (tag !== undefined) commands.push(`reset refs/tags/${tag}\nfrom ${own}\n\n`);
    before = tip;
    tip = own;
    if (isBranch) {
      commands.push(
        commitCommand({ ref, mark: ++mark, message: mergeAs, time: time + 1, from: before, merge: [own], files }),
      );
      tip = `:${mark}`;
    }
  }
  fastImport(git, commands);
  indexPaths(git);
}

export interface GeneratedOptions {
  commits: number;
  packages: number;
  seed?: number;
}

export const packageNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `pkg-${String(index).padStart(2, '0')}`);
/** The folder of a generated package: some lie inside each other, some have names that are not ASCII. */
export const packagePath = (name: string): string => {
  const index = Number(name.slice(4));
  if (index % 10 === 7) return `force-app/pkg-${String(index - 1).padStart(2, '0')}/inner`;
  return index % 10 === 3 ? `force-app/Größe ${index}/日本` : `force-app/${name}`;
};

interface Line {
  ref: string;
  tip: string;
  tree: Map<string, string>;
  /** Paths changed on it since it left the main line. */
  changed: Set<string>;
}

/**
 * A history as teams make them: features leave the main line, grow, take it in, and come back by merges, now and then
 * by one that drops what they did; with reverts, removed and renamed files, squashes and work items in the messages.
 */
export function generateHistory(repository: TestRepository, { commits, packages, seed = 1 }: GeneratedOptions): void {
  const random = randomNumbers(seed);
  const names = packageNames(packages);
  const commands: string[] = [];
  const progress = { made: 0, time: EPOCH };
  const manifest = {
    packageDirectories: names.map((name) => ({ path: packagePath(name), package: name, versionNumber: '1.0.0.NEXT' })),
  };
  const main: Line = { ref: 'refs/heads/main', tip: '', tree: new Map(), changed: new Set() };
  const features: Line[] = [];

  const commit = (line: Line, message: string, files: Record<string, string | null>, merge: readonly string[] = []) => {
    const mark = ++progress.made;
    const time = (progress.time += random(4) * 60);
    commands.push(commitCommand({ ref: line.ref, mark, message, time, from: line.tip || null, merge, files }));
    line.tip = `:${mark}`;
    for (const [path, content] of Object.entries(files)) {
      line.changed.add(path);
      if (content === null) line.tree.delete(path);
      else line.tree.set(path, content);
    }
  };
  const edit = (line: Line): Record<string, string | null> => {
    const path = `${packagePath(names[random(names.length)] ?? '')}/file ${random(4)}.cls`;
    const present = line.tree.get(path);
    if (present !== undefined && random(12) === 0) return { [path]: null };
    if (present !== undefined && random(12) === 0) return { [path]: null, [`${path}.renamed`]: present };
    // Few contents, so that histories come back to what they were.
    return { [path]: `content ${random(5)}\n` };
  };
  const takeOver = (from: Line, into: Line) =>
    Object.fromEntries(
      [...from.changed]
        .filter((path) => from.tree.get(path) !== into.tree.get(path))
        .map((path) => [path, from.tree.get(path) ?? null]),
    );

  commit(main, 'Start', { 'sfdx-project.json': JSON.stringify(manifest), 'README.md': 'A generated repository' });
  for (const name of names)
    if (progress.made < commits) commit(main, `Add ${name}`, { [`${packagePath(name)}/file 0.cls`]: 'content 0\n' });
  while (progress.made < commits) {
    const feature = features[random(features.length + 1)];
    const item = `SHOP-${random(200) + 1}`;
    switch (random(10)) {
      case 0:
        if (features.length < 6)
          features.push({
            ref: `refs/heads/feature/${progress.made}`,
            tip: main.tip,
            tree: new Map(main.tree),
            changed: new Set(),
          });
        break;
      case 1:
        if (feature && feature.changed.size > 0) {
          const files = random(8) === 0 ? {} : takeOver(feature, main);
          commit(main, `Merge pull request #${progress.made} from acme/feature\n\n${item}`, files, [feature.tip]);
          features.splice(features.indexOf(feature), 1);
        }
        break;
      case 2:
        if (feature && feature.tip !== main.tip) {
          const files = Object.fromEntries(
            [...main.tree].filter(
              ([path, content]) => !feature.changed.has(path) && feature.tree.get(path) !== content,
            ),
          );
          commit(feature, 'Take in the main line', files, [main.tip]);
        }
        break;
      case 3:
        commit(main, `${item}: a squashed change (#${progress.made})`, edit(main));
        break;
      case 4:
        commit(feature ?? main, 'An empty change', {});
        break;
      default:
        commit(
          feature ?? main,
          `A change for ${item}\n\nIt also concerns SHOP-${random(200) + 1}.`,
          edit(feature ?? main),
        );
    }
  }
  fastImport(repository.git, commands);
  indexPaths(repository.git);
}

/** Numbers below a limit, the same at every run. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
