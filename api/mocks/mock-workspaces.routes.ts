import { mockBaseUrl } from '../../domain/mocks/mock-keys.ts';
import { rotateMockKey } from '../../domain/mocks/workspaces.mutations.ts';
import { listWorkspaces } from '../../domain/mocks/workspaces.queries.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { pageReply, reply } from '../http/replies.ts';
import { inWorkspace, MockWorkspace, MockWorkspaceList, ScenariosQuery } from './mocks.schemas.ts';

const GROUP = 'Mock scenarios';

export const mockWorkspacesRoutes = [
  defineRoute({
    operationId: 'listMockWorkspaces',
    method: 'get',
    path: '/api/mocks/workspaces',
    group: GROUP,
    summary: 'List the mock workspaces by their names',
    roles: ANY_ROLE,
    projectScope: 'refused',
    query: ScenariosQuery,
    status: 200,
    response: MockWorkspaceList,
    async handle({ query: { limit, offset } }, { reads, requestUrl, adapters: { encryption, mocks } }) {
      const { items, total } = await listWorkspaces(reads, { limit, offset });
      const shown = items.map(({ workspaceId, key, name, ...row }) => ({
        ...row,
        workspace: name,
        baseUrl: mockBaseUrl({ encryption, mocksUrl: mocks.url }, { workspaceId, key }),
      }));
      return pageReply(requestUrl, { limit, offset, total }, { items: shown, total, limit, offset });
    },
  }),
  defineRoute({
    operationId: 'rotateMockKey',
    method: 'post',
    path: '/api/mocks/workspaces/{workspace}/rotate-key',
    group: GROUP,
    summary: 'Give a mock workspace another address',
    description: 'The address before it leads nowhere from the next call on.',
    roles: ['owner'],
    projectScope: 'refused',
    params: inWorkspace,
    status: 200,
    response: MockWorkspace,
    givesCredential: true,
    audit: 'mock_workspace.key_rotated',
    async handle({ params: { workspace } }, { tx, adapters: { encryption, mocks } }) {
      const rotated = await tx((work) => rotateMockKey(work, encryption, workspace));
      return reply({ workspace, baseUrl: mockBaseUrl({ encryption, mocksUrl: mocks.url }, rotated) });
    },
  }),
];
