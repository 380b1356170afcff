import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/**
 * What keeps a program apart that reads files of others. `bwrap`: it has no network, sees no other process and of the files only those it needs;
 * `unshare`: no network and no other process; `none`: the system permits neither, as in most containers.
 */
export type Isolation = 'bwrap' | 'unshare' | 'none';

interface IsolatedFiles {
  /** What it may write to. */
  folder: string;
  /** What it needs to read, besides the programs of the system. */
  readable: readonly string[];
}

const TRY_MS = 5_000;
/** Programs and libraries, and what of their configuration holds no secrets. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/opt', '/nix/store'];
const CONFIGURATION = /^(alternatives|java.*|ld\.so\..*|localtime|passwd|group|nsswitch\.conf|fonts)$/;

const works = ([program = '', ...args]: string[]): Promise<boolean> =>
  promisify(execFile)(program, args, { timeout: TRY_MS }).then(
    () => true,
    () => false,
  );

/**
 * Arguments of `unshare`, as root or in a namespace of users of its own. All processes of the namespace end with the first
 * one.
 */
const unshared = (isRoot: boolean): string[] => [
  'unshare',
  ...(isRoot ? [] : ['-r']),
  '-n',
  '-p',
  '-f',
  '-m',
  '--kill-child',
  '--mount-proc',
];

function wrapped({ folder, readable }: IsolatedFiles): string[] {
  const configuration = existsSync('/etc') ? readdirSync('/etc').filter((name) => CONFIGURATION.test(name)) : [];
  const shown = [...SYSTEM, ...configuration.map((name) => join('/etc', name)), ...readable];
  const apart = ['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--die-with-parent'];
  const own = ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'];
  const readOnly = shown.flatMap((path) => ['--ro-bind-try', path, path]);
  return ['bwrap', ...apart, ...own, ...readOnly, '--bind', folder, folder];
}

let found: Promise<{ kind: Isolation; isRoot: boolean }> | undefined;

async function find(): Promise<{ kind: Isolation; isRoot: boolean }> {
  if (await works([...wrapped({ folder: '/var/empty', readable: [] }).slice(0, -3), '/usr/bin/env', 'true']))
    return { kind: 'bwrap', isRoot: false };
  for (const isRoot of [true, false])
    if (await works([...unshared(isRoot), 'true'])) return { kind: 'unshare', isRoot };
  return { kind: 'none', isRoot: false };
}

/** What the system permits; found once. */
export const isolationHere = async (): Promise<Isolation> => (await (found ??= find())).kind;

/** What a command is preceded by, so that it runs apart. */
export async function isolatedBy(files: IsolatedFiles): Promise<string[]> {
  const { kind, isRoot } = await (found ??= find());
  return kind === 'bwrap' ? wrapped(files) : kind === 'unshare' ? unshared(isRoot) : [];
}

/** What node reads of a package: where its modules are looked up, and the descriptions that say how to read a file. */
export function packagesAbove(file: string): string[] {
  const paths: string[] = [];
  for (let folder = dirname(file), last = ''; folder !== last; last = folder, folder = dirname(folder))
    paths.push(join(folder, 'node_modules'), join(folder, 'package.json'));
  return paths.filter((path) => existsSync(path));
}
