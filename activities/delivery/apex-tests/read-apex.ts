import { mkdtemp, readFile, rm, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitMirrors, MirrorOf, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import { MANIFEST } from '../../../domain/code/git/package-rules.ts';
import {
  apexPath,
  type ApexUnit,
  apexUnit,
  type LineRange,
  objectOfTrigger,
} from '../../../domain/delivery/apex-tests/changed-apex-rules.ts';
import { directoryOf } from '../../../domain/delivery/source/delta-rules.ts';
import { readProjectFile } from '../../../domain/delivery/source/project-file-rules.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';

/** Two commits of a repository whose mirror has both. */
export interface ComparedCommits {
  mirrors: GitMirrors;
  mirror: MirrorOf;
  remote: Remote;
  commitSha: string;
  baseSha: string;
  signal: AbortSignal;
}

/** What differs between two commits in the packages of the head. */
export interface ChangedPaths {
  /** Directories of the packages. */
  directories: ReadonlySet<string>;
  /** Paths of classes and triggers that differ, with their names; also where only their settings do. */
  apex: ReadonlyMap<string, string>;
  /** How many other files differ. */
  others: number;
}

const MANIFEST_BYTES_MAX = 1024 * 1024;
const FILES_MAX = 20_000;
const BYTES_MAX = 100 * 1024 * 1024;
const FILE_CHARACTERS_MAX = 2_000_000;
const unavailable = (detail: string) => new DomainError('flow_unavailable', detail);
const cannotTell = (what: string) => unavailable(`Which lines of ${what} differ cannot be told`);

/** Throws `flow_unavailable` where the head has no project file that can be read. */
export async function changedPaths(of: ComparedCommits): Promise<ChangedPaths> {
  const { mirrors, mirror, remote, commitSha, baseSha } = of;
  const text = await mirrors.file(mirror, remote, commitSha, MANIFEST, MANIFEST_BYTES_MAX);
  const project = text === undefined ? `The commit has no readable ${MANIFEST}` : readProjectFile(text);
  if (typeof project === 'string') throw unavailable(project);
  const directories = new Set(project.packages.map(({ directory }) => directory));
  const apex = new Map<string, string>();
  let others = 0;
  await mirrors.changedPaths(mirror, [{ sha: commitSha, parent: baseSha }], (_, path) => {
    if (directoryOf(directories, path) === undefined) return;
    const found = apexPath(path);
    if (!found) others++;
    else apex.set(path.replace(/-meta\.xml$/, ''), found.name);
  });
  return { directories, apex, others };
}

/** Calls `onText` with the wanted files of a commit, one by one. Throws `flow_unavailable` for too many. */
async function readTexts(
  { mirrors, mirror, remote, signal }: ComparedCommits,
  sha: string,
  isWanted: (path: string) => boolean,
  onText: (path: string, text: string) => void,
): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'quayside-apex-'));
  const folder = join(place, 'files');
  const paths: string[] = [];
  const isLeftOut = (path: string) => {
    if (!isWanted(path)) return true;
    paths.push(path);
    return false;
  };
  const whyTooLarge = ({ files, bytes }: { files: number; bytes: number }) =>
    files > FILES_MAX || bytes > BYTES_MAX
      ? `The repository has more Apex than is read to compare commits: ${FILES_MAX.toLocaleString('en')} files of ${BYTES_MAX / 1024 / 1024} MB`
      : undefined;
  try {
    await mkdir(folder);
    const checkout = await mirrors.checkout(mirror, remote, { sha, folder, isLeftOut, whyTooLarge }, signal);
    if (!checkout.isOk) throw checkout.mayPass ? new Error(checkout.reason) : unavailable(checkout.reason);
    for (const path of new Set(paths))
      onText(path, (await readFile(join(folder, path), 'utf8')).slice(0, FILE_CHARACTERS_MAX));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** All classes and triggers of the head's packages, with the words that may be the names of others. */
export async function apexOfHead(of: ComparedCommits, { directories }: ChangedPaths): Promise<ApexUnit[]> {
  const isApex = (path: string) => apexPath(path)?.isSettings === false && directoryOf(directories, path) !== undefined;
  const texts = new Map<string, string>();
  await readTexts(of, of.commitSha, isApex, (path, text) => texts.set(path, text));
  const names = new Set([...texts.keys()].flatMap((path) => apexPath(path)?.name.toLowerCase() ?? []));
  for (const [path, text] of texts) if (path.endsWith('.trigger')) names.add(objectOfTrigger(text) ?? '');
  return [...texts].flatMap(([path, text]) => apexUnit(path, text, (word) => names.has(word)) ?? []);
}

/** A class or trigger of the head that differs from that of the base. */
export interface ChangedUnit extends ApexUnit {
  text: string;
  /** Its lines that differ. */
  ranges: LineRange[];
}

/** What git writes in quotes, and what is no UTF-8: lines of it are not told. */
const QUOTED = /["\\\p{Cc}\uFFFD]/u;

/**
 * What differs of classes and triggers, line by line; what the head lacks is left out. Throws `flow_unavailable` where that
 * cannot be told of all: what nobody looked at would pass for unchanged.
 */
export async function changedUnits(of: ComparedCommits, { apex }: ChangedPaths): Promise<ChangedUnit[]> {
  const { mirrors, mirror, commitSha: head, baseSha: base, signal } = of;
  if (apex.size === 0) return [];
  const units = new Map<string, ChangedUnit>();
  const isChanged = (path: string) => apex.has(path);
  await readTexts(of, head, isChanged, (path, text) => {
    const unit = apexUnit(path, text, () => false);
    if (unit) units.set(path, { ...unit, text, ranges: [] });
  });
  const untold: string[] = [];
  await mirrors.files(mirror, head, ({ path }) => {
    if (isChanged(path) && (!units.has(path) || QUOTED.test(path))) untold.push(path);
  });
  if (untold[0] !== undefined) throw cannotTell(untold[0]);
  if (units.size === 0) return [];
  await readTexts(of, base, isChanged, () => undefined);
  const paths = [...units.keys()];
  try {
    await mirrors.changedLines(mirror, { base, head, paths }, (path, first, count) =>
      units.get(path)?.ranges.push([first, count]),
    );
  } catch {
    signal.throwIfAborted();
    throw cannotTell(`${paths.length} classes and triggers`);
  }
  return [...units.values()];
}
