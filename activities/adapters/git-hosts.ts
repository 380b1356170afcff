import type { FindGitHost, GitHost, HostPlace } from '../../domain/git-hosts/git-host.port.ts';
import { findCredentials, type UsableIntegration } from '../../domain/integrations/integrations.mutations.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import type { OutboundAddresses } from '../../domain/outbound/outbound-addresses.ts';
import type { Deps } from '../deps.ts';
import { createGitHostA } from './git-host-a.ts';
import { createGitHostB } from './git-host-b.ts';
import { createGitHostC } from './git-host-c.ts';
import { type CallHost, createHostHttp, type HostAccess } from './host-http.ts';

const HOSTS: Record<
  HostPlace['platform'],
  { baseUrl: string; connect: (call: CallHost, access: HostAccess) => GitHost }
> = {
  'host-a': { baseUrl: 'https://api.github.com', connect: createGitHostA },
  'host-b': { baseUrl: 'https://dev.azure.com', connect: createGitHostB },
  'host-c': { baseUrl: 'https://gitlab.com/api/v4', connect: createGitHostC },
};

const accessOf = ({ baseUrl, credentials }: UsableIntegration, defaultUrl: string): HostAccess => ({
  baseUrl: (baseUrl ?? defaultUrl).replace(/\/+$/, ''),
  token: credentials.type === 'token' ? credentials.token : credentials.password,
  username: credentials.username ?? '',
});

/** The git hosts of projects, with the credentials of their tenants. */
export function createGitHosts({
  addresses,
  actingAs,
  encryption,
}: Pick<Deps, 'actingAs' | 'encryption'> & { addresses: OutboundAddresses }): {
  find: FindGitHost;
  close: () => Promise<void>;
} {
  const http = createHostHttp(addresses);
  return {
    async find({ projectId, platform, purpose, ...tenant }) {
      const { baseUrl, connect } = HOSTS[platform];
      const integration = await actingAs(systemActor(tenant, 'git-host'))((tx) =>
        findCredentials(tx, encryption, { kind: platform, projectId, purpose }),
      );
      return integration && connect(http.call, accessOf(integration, baseUrl));
    },
    close: http.close,
  };
}
