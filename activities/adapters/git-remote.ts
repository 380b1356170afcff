import { lookup } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitCredential, Remote } from '../../domain/git/git-mirrors.port.ts';
import { literalHost, type OutboundAddresses } from '../../domain/outbound/outbound-addresses.ts';
import { configuration } from './git-program.ts';

export interface RemoteAccess {
  env: Record<string, string>;
  /** Removes the files that were written for it. */
  close: () => Promise<void>;
}

export interface RemotePolicy {
  addresses: OutboundAddresses;
  /** Paths on this machine are allowed as remotes. */
  allowLocal: boolean;
  /** For keys and known hosts; only the service writes to it. */
  folder: string;
}

/** The remote is not permitted; the message is for people. */
export class RefusedRemoteError extends Error {}

/** Passes the credential by environment variables: it is in no argument and in no file. */
const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$QS_GIT_USERNAME" "$QS_GIT_PASSWORD"; }; f';

const CLOSED: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'fetch.recurseSubmodules': 'false',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'transfer.credentialsInUrl': 'die',
  'protocol.version': '2',
};

interface ParsedRemote {
  transport: 'https' | 'http' | 'ssh' | 'file';
  host: string;
  port: string;
}

/** `git@host:path` is ssh's short form. Throws `RefusedRemoteError`. */
function parseRemote(url: string): ParsedRemote {
  if (/\p{Cc}/u.test(url)) throw new RefusedRemoteError('The remote address contains control characters');
  if (url.startsWith('/')) return { transport: 'file', host: '', port: '' };
  const short = /^[\w.-]+@([\w.-]+):(?!\/\/)/.exec(url);
  if (short?.[1] !== undefined) return { transport: 'ssh', host: short[1], port: '22' };
  const parsed = URL.parse(url);
  const transport = parsed?.protocol.slice(0, -1);
  if (!parsed || !(transport === 'https' || transport === 'http' || transport === 'ssh' || transport === 'file')) {
    throw new RefusedRemoteError('The remote address is neither https nor ssh');
  }
  return { transport, host: parsed.hostname, port: parsed.port || (transport === 'http' ? '80' : '443') };
}

/**
 * The environment with which git may reach this remote and nothing else. A host's addresses are resolved and checked
 * once; for https the connection is then pinned to them. Throws `RefusedRemoteError`.
 */
export async function openRemote(
  { url, credential }: Remote,
  { addresses, allowLocal, folder }: RemotePolicy,
): Promise<RemoteAccess> {
  const { transport, host, port } = parseRemote(url);
  if (transport === 'file' && !allowLocal)
    throw new RefusedRemoteError('Paths on this machine are not allowed as remotes');
  const settings = { ...CLOSED, ...(credential?.password !== undefined && { 'credential.helper': HELPER }) };
  const resolved = transport === 'file' ? [] : await permittedAddresses(host, addresses);
  const isByHttp = transport === 'https' || transport === 'http';
  const ssh = transport === 'ssh' ? await sshCommand(folder, credential) : undefined;
  return {
    env: {
      ...configuration({
        ...settings,
        ...(isByHttp && { 'http.curloptResolve': `${host}:${port}:${resolved.join(',')}` }),
      }),
      GIT_ALLOW_PROTOCOL: transport,
      ...(ssh && { GIT_SSH_COMMAND: ssh.command }),
      ...(credential?.password !== undefined && {
        QS_GIT_USERNAME: credential.username,
        QS_GIT_PASSWORD: credential.password,
      }),
    },
    close: ssh?.close ?? (async () => {}),
  };
}

async function permittedAddresses(host: string, addresses: OutboundAddresses): Promise<string[]> {
  const literal = literalHost(host);
  let found: string[];
  try {
    found = literal === undefined ? (await lookup(host, { all: true })).map(({ address }) => address) : [literal];
  } catch {
    throw new RefusedRemoteError('The host of the remote is not known');
  }
  if (!found.every((address) => addresses.permitsIp(address))) {
    throw new RefusedRemoteError('The host of the remote is not at a public address');
  }
  return found.map((address) => (address.includes(':') ? `[${address}]` : address));
}

async function sshCommand(folder: string, credential: GitCredential | undefined) {
  const knownHosts = join(folder, 'known_hosts');
  const options = [
    '-F /dev/null',
    '-o BatchMode=yes',
    '-o ConnectTimeout=15',
    '-o StrictHostKeyChecking=accept-new',
    `-o UserKnownHostsFile=${quoted(knownHosts)}`,
  ];
  if (credential?.privateKey === undefined) return { command: `ssh ${options.join(' ')}`, close: async () => {} };
  const keyFolder = await mkdtemp(join(folder, 'key-'));
  const keyFile = join(keyFolder, 'key');
  await writeFile(keyFile, `${credential.privateKey.trimEnd()}\n`, { mode: 0o600 });
  return {
    command: `ssh ${options.join(' ')} -o IdentitiesOnly=yes -i ${quoted(keyFile)}`,
    close: () => rm(keyFolder, { recursive: true, force: true }),
  };
}

/** git passes this one setting to a shell; the paths are chosen by the service. */
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;
