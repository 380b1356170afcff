import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/** Where the relay listens inside the jail, whose loopback is its own. */
export const RELAY_PORT = 3_128;
const PROFILE = '/profile';
const EGRESS = '/run/egress';
const MEGABYTE = 1_048_576;
/** What Chromium reads of /etc: fonts, its libraries, certificates, the time zone. Nothing that names this machine. */
const ETC = [
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/ssl',
  '/etc/ca-certificates',
  '/etc/localtime',
];
/** Where builds of Chromium and Chrome look for managed policies. */
const POLICY_FOLDERS = ['/etc/chromium/policies', '/etc/opt/chrome/policies'];
/** Links into /usr on most distributions. */
const SYSTEM_FOLDERS = ['/bin', '/lib', '/lib32', '/lib64'];

/** A line of /proc/net/tcp for what listens there (state 0A), whose addresses and ports are hexadecimal. */
const RELAY_LISTENS = `:${RELAY_PORT.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;

/**
 * Listens in the jail and carries each connection to the socket of the egress proxy, says so on descriptor 5, which is closed
 * then, and has the browser take the shell's place meanwhile. The relay must not hold the browser's pipes: their end is how
 * the browser learns that the host is gone.
 */
const START = [
  `"$1" -t 5 TCP-LISTEN:${RELAY_PORT},bind=127.0.0.1,fork,reuseaddr,backlog=200,max-children=220 UNIX-CONNECT:${EGRESS} 3<&- 4>&- 5>&- &`,
  `( (until grep -q '${RELAY_LISTENS}' /proc/net/tcp; do sleep 0.02; done; echo listens >&5) 3<&- 4>&- & )`,
  'shift; exec "$@" 5>&-',
].join('\n');

export interface JailFolders {
  /** With the folder `managed` in it. */
  policies: string;
  profile: string;
  /** The unix socket of the egress proxy. */
  egress: string;
}

/** The profile's path for the browser in the jail. */
export const JAILED_PROFILE = PROFILE;

/**
 * Arguments of bubblewrap for a program in a jail: own namespaces of the network, processes, mounts, users and the rest; of this
 * machine's files /usr and a little of /etc, which cannot be written. It ends with the process that starts it.
 */
export function jailed(program: string, socat: string, { policies, profile, egress }: JailFolders): string[] {
  return [
    ['--unshare-all', '--die-with-parent', '--hostname', 'browser'],
    ['--ro-bind', '/usr', '/usr'],
    SYSTEM_FOLDERS.flatMap(systemFolder),
    ownEtc(policies),
    ['--ro-bind-try', '/var/cache/fontconfig', '/var/cache/fontconfig'],
    besideUsr(program),
    ['--proc', '/proc', '--dev', '/dev'],
    ['--size', String(512 * MEGABYTE), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--size', String(64 * MEGABYTE), '--tmpfs', '/tmp'],
    ['--bind', profile, PROFILE, '--bind', egress, EGRESS],
    ['--remount-ro', '/', '--chdir', PROFILE],
    ['--', '/bin/sh', '-c', START, 'sh', socat, program],
  ].flat();
}

/** Arguments of bubblewrap for a program that sees this machine as it is, but for /etc with the policies. */
export const withOwnPolicies = (program: string, policies: string): string[] =>
  [['--die-with-parent', '--dev-bind', '/', '/'], ownEtc(policies), ['--remount-ro', '/etc', '--', program]].flat();

const ownEtc = (policies: string): string[] =>
  [
    ['--size', String(MEGABYTE), '--tmpfs', '/etc'],
    ETC.flatMap((path) => ['--ro-bind-try', path, path]),
    POLICY_FOLDERS.flatMap((path) => ['--ro-bind', policies, path]),
  ].flat();

function systemFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

/** A Chromium that is installed elsewhere. */
function besideUsr(program: string): string[] {
  const folder = dirname(realpathSync(program));
  return folder.startsWith('/usr/') ? [] : ['--ro-bind', folder, folder];
}
