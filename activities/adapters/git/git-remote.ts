import { lookup } from 'node:dns/promises';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, isIP, type LookupFunction } from 'node:net';
import { join } from 'node:path';
import type { GitCredential, Remote } from '../../../domain/code/git/mirror/git-mirrors.port.ts';
import type { GitRemote } from '../../../domain/projects/remotes/git-remote-rules.ts';
import { permittedRemote, type RemotePolicy } from '../../../domain/projects/remotes/remote-policy.ts';
import { literalHost, notPublic } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { configuration, isAtLeast } from './git-program.ts';

export interface RemoteAccess {
  /** What git is given: never the text that somebody entered. */
  url: string;
  /** The environment with which git may reach this remote and nothing else; `origin` is the remote. */
  env: Record<string, string>;
  /** Removes the files that were written for it. */
  close: () => Promise<void>;
}

export interface RemoteOptions extends RemotePolicy {
  /** For keys and known hosts; only the service writes to it. */
  folder: string;
  program: string;
  /** Finds all addresses of a host name. */
  resolve?: ((host: string) => Promise<string[]>) | undefined;
}

/** The remote is not permitted, or not there; the message is for people. */
export class RefusedRemoteError extends Error {}

const CONNECT_TIMEOUT_MS = 15_000;

/** Passes the credential by environment variables: it is in no argument and in no file. */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$QS_GIT_USERNAME" "$QS_GIT_PASSWORD"; }; f';

/** Nothing that a repository or a server says makes git call another address or run a program. */
const CLOSED: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'transfer.bundleURI': 'false',
  'http.followRedirects': 'false',
  'http.proxy': '',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'transfer.credentialsInUrl': 'die',
  'protocol.version': '2',
};

/**
 * Opens the way to a remote. A host is resolved once, its addresses are checked, and git is bound to the one that
 * answers: there is no second look-up for a name server to answer differently. Throws `RefusedRemoteError`.
 */
export async function openRemote(
  { url, credential }: Remote,
  options: RemoteOptions,
  signal?: AbortSignal,
): Promise<RemoteAccess> {
  const parsed = permittedRemote(url, options);
  if (!parsed.isOk) throw new RefusedRemoteError(parsed.reason);
  const { remote } = parsed;
  const settings = { ...CLOSED, 'remote.origin.url': remote.url };
  const env = { GIT_ALLOW_PROTOCOL: remote.transport };
  if (remote.transport === 'file') {
    return { url: remote.url, env: { ...env, ...configuration(settings) }, close: async () => {} };
  }
  const address = await reachableAddress(remote, await permittedAddresses(remote.host, options), signal);
  if (remote.transport === 'ssh') {
    const { command, close } = await sshCommand(options.folder, remote, address, credential);
    const bySsh = { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' };
    return { url: remote.url, env: { ...env, ...bySsh, ...configuration(settings) }, close };
  }
  // Older versions ignore the setting that binds a name to an address.
  if (!(await isAtLeast(options.program, 2, 37))) throw new RefusedRemoteError('The worker needs git 2.37 or later');
  const { password, username } = credential ?? {};
  return {
    url: remote.url,
    env: {
      ...env,
      ...configuration({
        ...settings,
        ...(isIP(bare(remote.host)) === 0 && { 'http.curloptResolve': `${remote.host}:${remote.port}:${address}` }),
        ...(password !== undefined && { [`credential.https://${remote.host}:${remote.port}.helper`]: HELPER }),
      }),
      ...(password !== undefined && { QS_GIT_USERNAME: username ?? '', QS_GIT_PASSWORD: password }),
    },
    close: async () => {},
  };
}

const systemResolver = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

async function permittedAddresses(
  host: string,
  { addresses, resolve = systemResolver }: RemoteOptions,
): Promise<string[]> {
  const literal = literalHost(host);
  const found = literal === undefined ? await resolve(host).catch(() => []) : [literal];
  if (found.length === 0) throw new RefusedRemoteError('The host of the remote is not known');
  if (!found.every((address) => addresses.permitsIp(address))) throw new RefusedRemoteError(notPublic(host));
  return found;
}

type NetworkRemote = Exclude<GitRemote, { transport: 'file' }>;

/** The first of the addresses that takes a connection: ssh tries only one, and curl waits five minutes for a silent one. */
async function reachableAddress(
  { host, port }: NetworkRemote,
  found: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const all = found.map((address) => ({ address, family: isIP(address) }));
  const answer: LookupFunction = (_, { all: isAll }, done) =>
    isAll ? done(null, all) : done(null, all[0]?.address ?? '', all[0]?.family);
  const clock = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  const socket = connect({
    host: bare(host),
    port,
    lookup: answer,
    autoSelectFamily: true,
    signal: signal ? AbortSignal.any([signal, clock]) : clock,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return socket.remoteAddress ?? found[0] ?? '';
  } catch {
    signal?.throwIfAborted();
    throw new RefusedRemoteError('The remote is not reachable');
  } finally {
    socket.destroy();
  }
}

/**
 * No configuration file, agent, forwarding, multiplexing or proxy command; no key of the machine; host keys are those that
 * the host showed first, under its name although the connection goes to an address.
 */
async function sshCommand(
  folder: string,
  { host, port }: NetworkRemote,
  address: string,
  credential: GitCredential | undefined,
) {
  await mkdir(folder, { recursive: true });
  const name = bare(host);
  const options = {
    BatchMode: 'yes',
    HostName: address,
    HostKeyAlias: port === 22 ? name : `[${name}]:${port}`,
    CheckHostIP: 'no',
    StrictHostKeyChecking: 'accept-new',
    UpdateHostKeys: 'no',
    UserKnownHostsFile: sshPath(join(folder, 'known_hosts')),
    GlobalKnownHostsFile: '/dev/null',
    CanonicalizeHostname: 'no',
    ProxyCommand: 'none',
    ProxyJump: 'none',
    PermitLocalCommand: 'no',
    ControlMaster: 'no',
    ControlPath: 'none',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    IdentityAgent: 'none',
    IdentitiesOnly: 'yes',
    PreferredAuthentications: 'publickey',
    ConnectTimeout: String(CONNECT_TIMEOUT_MS / 1_000),
    ServerAliveInterval: '15',
    ServerAliveCountMax: '4',
  };
  const fixed = [
    'ssh',
    '-F',
    '/dev/null',
    ...Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`]),
  ];
  if (credential?.privateKey === undefined) {
    return { command: shellWords([...fixed, '-o', 'IdentityFile=none']), close: async () => {} };
  }
  const keyFolder = await mkdtemp(join(folder, 'key-'));
  const keyFile = join(keyFolder, 'key');
  await writeFile(keyFile, `${credential.privateKey.trimEnd()}\n`, { mode: 0o600 });
  return {
    command: shellWords([...fixed, '-o', `IdentityFile=${sshPath(keyFile)}`]),
    close: () => rm(keyFolder, { recursive: true, force: true }),
  };
}

/** A host without the brackets of IPv6. */
const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

/** ssh splits paths at spaces, and replaces what follows a percent sign. */
const sshPath = (path: string): string => `"${path.replaceAll('%', '%%')}"`;

/** git passes this one setting to a shell. */
const shellWords = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
