import type { GitRemote } from '../../../projects/remotes/git-remote-rules.ts';

type Platform = 'host-a' | 'host-b' | 'host-c';

interface Server {
  /** For git over https, with its port. */
  https: { host: string; port: number };
  ssh: readonly string[];
}

/** Servers of the hosts, for integrations without a base URL. */
const PUBLIC_SERVERS: Record<Platform, Server> = {
  'host-a': { https: { host: 'github.com', port: 443 }, ssh: ['github.com', 'ssh.github.com'] },
  'host-b': { https: { host: 'dev.azure.com', port: 443 }, ssh: ['ssh.dev.azure.com'] },
  'host-c': { https: { host: 'gitlab.com', port: 443 }, ssh: ['gitlab.com', 'altssh.gitlab.com'] },
};

/**
 * Whether a remote is on the server of an integration, to which alone the integration's secret goes: not to its parent
 * domain, its neighbours or another port. `api.host.example` stands for `host.example`.
 * @param baseUrl of the integration; null: the public service of the platform.
 */
export function isOnServer(remote: GitRemote, platform: Platform, baseUrl: string | null): boolean {
  const server = baseUrl === null ? PUBLIC_SERVERS[platform] : serverAt(baseUrl);
  if (!server || remote.transport === 'file') return false;
  if (remote.transport === 'ssh') return server.ssh.includes(remote.host);
  return remote.host === server.https.host && remote.port === server.https.port;
}

function serverAt(baseUrl: string): Server | undefined {
  const url = URL.parse(baseUrl);
  if (!url) return undefined;
  const host = url.hostname.replace(/^api\./, '');
  return {
    https: { host, port: url.port === '' ? 443 : Number(url.port) },
    ssh: [host, `ssh.${host}`, `altssh.${host}`],
  };
}
