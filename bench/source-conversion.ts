import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { SourceBuild } from '../domain/delivery/source/source-build.port.ts';
import { DeployedSource, differences } from '../test/support/deployed-source.ts';
import { newRepository, type TestRepository } from '../test/support/repository.ts';
import { sourceBuilds, sourceOf } from '../test/support/source-builds.ts';
import { Figures } from './figures.ts';

/**
 * Measures how long the source of a commit takes to be built for a deployment, and the memory of the process that converts
 * it: all of it, and what ten changed files make. Options: `--repository <path>` of a bare repository instead of one that is
 * generated, `--rounds 3`, `--pairs 0` of commits, `--every 1`: whether what differs between two commits, deployed onto the
 * first, is the second, component by component.
 */
const { values: options } = parseArgs({
  options: {
    repository: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    pairs: { type: 'string', default: '0' },
    every: { type: 'string', default: '1' },
  },
});
const CONVERTER = 'source-converter-process.ts';
const POLL_MS = 20;
/** On every Linux platform that Node supports. */
const TICKS_PER_SECOND = 100;
const CLASSES = 1_000;
const OBJECTS = 100;
const FIELDS = 60;

/** The most memory in MB, and the CPU in seconds, that the converting process has used so far; zeros: there is none now. */
function usedByConverter(): { megabytes: number; cpuSeconds: number } {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [program = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!program.endsWith('node') || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(CONVERTER)) continue;
      const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      return { megabytes: Number(peak ?? 0) / 1_024, cpuSeconds: ((user ?? 0) + (system ?? 0)) / TICKS_PER_SECOND };
    } catch {
      // It has ended.
    }
  }
  return { megabytes: 0, cpuSeconds: 0 };
}

/** A copy that shares the objects of a repository, and may get commits of its own. */
function copyOf(path: string): TestRepository {
  const copy = newRepository();
  const objects = [join(path, 'objects'), join(path, '.git', 'objects')].find((folder) => existsSync(folder));
  if (objects === undefined) throw new Error(`${path} is no repository`);
  writeFileSync(join(copy.path, 'objects/info/alternates'), `${resolve(objects)}\n`);
  copy.git(['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  copy.git(['update-ref', 'refs/heads/main', copy.git(['-C', resolve(path), 'rev-parse', 'HEAD'])]);
  return copy;
}

function generated(): TestRepository {
  const repository = newRepository();
  const folder = 'force-app/main/default';
  const files: Record<string, string> = sourceOf.project([{ path: 'force-app' }]);
  for (let index = 0; index < CLASSES; index++)
    Object.assign(files, sourceOf.apexClass(folder, `Class${index}`, `String text = '${'x'.repeat(4_000)}';`));
  for (let index = 0; index < OBJECTS; index++) {
    Object.assign(files, sourceOf.object(folder, `Object${index}__c`, `Object ${index}`));
    for (let field = 0; field < FIELDS; field++)
      Object.assign(files, sourceOf.field(folder, `Object${index}__c`, `Field${field}__c`));
  }
  repository.commit({ files });
  return repository;
}

const repository = options.repository === undefined ? generated() : copyOf(options.repository);
const source = sourceBuilds(repository.path);
const figures = new Figures();

/** A build with its time, and the memory of its process. */
async function measured(name: string, targets: { s: string; mb: string }, order: Parameters<typeof source.built>[0]) {
  let [megabytes, cpuSeconds] = [0, 0];
  const poll = setInterval(() => {
    const used = usedByConverter();
    megabytes = Math.max(megabytes, used.megabytes);
    cpuSeconds = Math.max(cpuSeconds, used.cpuSeconds);
  }, POLL_MS);
  const startedAt = performance.now();
  const build = await source.built(order).finally(() => clearInterval(poll));
  figures.note(name, (performance.now() - startedAt) / 1_000, 's', targets.s);
  figures.note(`${name}: CPU of the process`, cpuSeconds, 's');
  figures.note(`${name}: memory of the process`, megabytes, 'MB', targets.mb);
  return build;
}

async function compare(shas: readonly string[]): Promise<void> {
  let before: { org: DeployedSource; sha: string } | undefined;
  let [pairs, deltas] = [0, 0];
  const deployed = async (build: SourceBuild, onto?: DeployedSource) =>
    build.object === null
      ? new DeployedSource(onto?.components)
      : new DeployedSource(onto?.components).deploy(await source.filesOf(build));
  for (const commitSha of shas) {
    const answer = await source.build({ commitSha, baseSha: null });
    if (!answer.isOk) {
      console.log(`${commitSha.slice(0, 8)} is left out: ${answer.reason}`);
      continue;
    }
    const whole = await deployed(answer.value);
    if (before) {
      const delta = await source.built({ commitSha, baseSha: before.sha });
      // What the platform never deletes stays.
      const never = new Set(delta.warnings.map((warning) => warning.replace(/ is gone from the source.*/s, '')));
      const found = differences(await deployed(delta, before.org), whole).filter((each) => !never.has(each.slice(2)));
      pairs++;
      if (delta.form !== 'whole') deltas++;
      if (found.length > 0) {
        console.log(`${before.sha.slice(0, 8)}..${commitSha.slice(0, 8)} (${delta.form}) differs:`, found.slice(0, 10));
        process.exitCode = 1;
      }
    }
    before = { org: whole, sha: commitSha };
  }
  console.log(`${pairs} pairs compared, ${deltas} of them by what differs`);
}

try {
  const baseSha = repository.tip('main') ?? '';
  const tree = repository.lines(['ls-tree', '-r', '--name-only', baseSha]);
  const project = JSON.parse(repository.git(['show', `${baseSha}:sfdx-project.json`])) as {
    packageDirectories: { path: string }[];
  };
  const folders = project.packageDirectories.map(({ path }) => path);
  const changed = tree
    .filter(
      (path) => path.endsWith('.cls') && folders.some((folder) => path.startsWith(`${folder.replace(/^\.\//, '')}/`)),
    )
    .slice(0, 10);
  const files = Object.fromEntries(
    changed.map((path) => [path, `${repository.git(['show', `${baseSha}:${path}`])}\n// Changed\n`]),
  );
  const commitSha = repository.commit({ files });
  // The mirror gets the contents of files when they are first read.
  const { components } = await source.built({ commitSha, baseSha: null });
  console.log(`${components.length} components of ${tree.length} files`);
  for (let round = 1; round <= Number(options.rounds); round++) {
    const whole = await measured('all of it', { s: '<= 20', mb: '<= 600' }, { commitSha, baseSha: null });
    figures.note('all of it: zip', whole.bytes / 1_024 / 1_024, 'MB', '<= 39');
    const delta = await measured('ten changed files', { s: '<= 3', mb: '' }, { commitSha, baseSha });
    if (delta.form !== 'delta' || delta.components.length !== changed.length) throw new Error(delta.reason);
  }
  figures.print();
  const history = repository.lines(['rev-list', '--first-parent', baseSha, '--', ...folders]);
  const every = history.filter((_, index) => index % Number(options.every) === 0);
  if (options.pairs !== '0') await compare(every.slice(0, Number(options.pairs) + 1).toReversed());
} finally {
  source.remove();
  repository.remove();
}
