import type {
  FindPullRequestHost,
  PullRequestHost,
} from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import type { FindGitHost, GitHost, HostPlace } from '../../../domain/code/git-hosts/git-host.port.ts';
import {
  findCredentials,
  type UsableIntegration,
} from '../../../domain/projects/integrations/integrations.mutations.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import type { Deps } from '../../deps.ts';
import { createGitHostA } from './git-host-a.ts';
import { createGitHostB } from './git-host-b.ts';
import { createGitHostC } from './git-host-c.ts';
import {
  type CallHost,
  createHostHttp,
  type ExchangeWithHost,
  type HostAccess,
  type ReadHostText,
} from './host-http.ts';
import { createPullRequestsHostA } from './pull-requests-host-a.ts';
import { createPullRequestsHostB } from './pull-requests-host-b.ts';
import { createPullRequestsHostC } from './pull-requests-host-c.ts';

interface Host {
  baseUrl: string;
  connect: (call: CallHost, access: HostAccess, readText: ReadHostText) => GitHost;
  pullRequests: (exchange: ExchangeWithHost, access: HostAccess) => PullRequestHost;
}

const HOSTS: Record<HostPlace['platform'], Host> = {
  'host-a': { baseUrl: 'https://api.github.com', connect: createGitHostA, pullRequests: createPullRequestsHostA },
  'host-b': { baseUrl: 'https://dev.azure.com', connect: createGitHostB, pullRequests: createPullRequestsHostB },
  'host-c': { baseUrl: 'https://gitlab.com/api/v4', connect: createGitHostC, pullRequests: createPullRequestsHostC },
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
}: Pick<Deps, 'actingAs' | 'encryption'> & { addresses: HostAddresses }): {
  find: FindGitHost;
  findPullRequests: FindPullRequestHost;
  close: () => Promise<void>;
} {
  const http = createHostHttp(addresses);
  const accessTo = async ({ projectId, platform, purpose, ...tenant }: HostPlace): Promise<HostAccess | undefined> => {
    const integration = await actingAs(systemActor(tenant, 'git-host'))((tx) =>
      findCredentials(tx, encryption, { kind: platform, projectId, purpose }),
    );
    return integration && accessOf(integration, HOSTS[platform].baseUrl);
  };
  return {
    async find(place) {
      const access = await accessTo(place);
      return access && HOSTS[place.platform].connect(http.call, access, http.readText);
    },
    async findPullRequests(place) {
      const access = await accessTo(place);
      return access && HOSTS[place.platform].pullRequests(http.exchange, access);
    },
    close: http.close,
  };
}
