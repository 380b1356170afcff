import { z } from 'zod';
import { appManifest } from '../../../domain/people/chat/manifest-rules.ts';
import {
  changeWorkspace,
  deleteWorkspace,
  putWorkspace,
  type WorkspaceChange,
} from '../../../domain/people/chat/chat-workspaces.mutations.ts';
import {
  chatKeyOf,
  findWorkspace,
  listWorkspaces,
  type WorkspaceRow,
} from '../../../domain/people/chat/chat-workspaces.queries.ts';
import { checkWorkspace } from '../../../domain/people/chat/workspace-check.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { queryFlag } from '../../http/parameters.ts';
import {
  AppManifest,
  TeamId,
  Workspace,
  WorkspaceChanged,
  WorkspaceDeleted,
  WorkspaceIn,
  WorkspacePatch,
  WorkspaceSaved,
  WorkspaceTest,
} from './chat-workspaces.schemas.ts';

const GROUP = 'Chat workspace';
const ofTeam = z.strictObject({ team_id: TeamId.optional() });

const shown = (workspace: WorkspaceRow) => ({
  id: workspace.id,
  team_id: workspace.teamId,
  team_name: workspace.teamName,
  app_id: workspace.appId,
  app_name: workspace.appName,
  bot_user_id: workspace.botUserId,
  is_active: workspace.isActive,
  created_at: workspace.createdAt,
  updated_at: workspace.updatedAt,
  created_by: workspace.createdBy,
  has_bot_token: workspace.hasBotToken,
  has_app_token: workspace.hasAppToken,
  has_signing_secret: workspace.hasSigningSecret,
});

const changeOf = (body: Omit<z.output<typeof WorkspacePatch>, 'team_id'>): WorkspaceChange => ({
  ...(body.team_name !== undefined && { teamName: body.team_name }),
  ...(body.bot_token !== undefined && { botToken: body.bot_token }),
  ...(body.app_token !== undefined && { appToken: body.app_token }),
  ...(body.signing_secret !== undefined && { signingSecret: body.signing_secret }),
  ...(body.app_id !== undefined && { appId: body.app_id }),
  ...(body.app_name !== undefined && { appName: body.app_name }),
  ...(body.bot_user_id !== undefined && { botUserId: body.bot_user_id }),
  ...(body.is_active !== undefined && { isActive: body.is_active }),
});

export const chatWorkspacesRoutes = [
  defineRoute({
    operationId: 'getChatWorkspace',
    method: 'get',
    path: '/api/slack/workspace',
    group: GROUP,
    summary: 'Get a chat workspace',
    description: 'That of `team_id`, else the newest active one; 404 where there is none. Secrets are never returned.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    query: ofTeam,
    status: 200,
    response: Workspace,
    async handle({ query: { team_id: teamId } }, { reads }) {
      const workspace = await findWorkspace(reads, teamId);
      if (!workspace) throw notFound(teamId === undefined ? 'An active chat workspace' : 'The chat workspace');
      return shown(workspace);
    },
  }),
  defineRoute({
    operationId: 'saveChatWorkspace',
    method: 'post',
    path: '/api/slack/workspace',
    group: GROUP,
    summary: 'Connect a chat workspace, or replace its connection',
    description:
      'Replaces the workspace with the same `team_id` as a whole and makes it active. The shapes of tokens are checked; Slack is not called: `GET /api/slack/test` does that. The app is your own: `GET /api/slack/manifest` describes it.',
    roles: ['owner'],
    projectScope: 'refused',
    body: WorkspaceIn,
    status: 201,
    response: WorkspaceSaved,
    audit: ['chat_workspace.created', 'chat_workspace.updated'],
    async handle({ body }, { tx, adapters: { encryption } }) {
      const { id, teamId, teamName } = await tx((work) =>
        putWorkspace(work, encryption, {
          teamId: body.team_id,
          teamName: body.team_name ?? body.team_id,
          botToken: body.bot_token,
          appToken: body.app_token,
          signingSecret: body.signing_secret,
          appId: body.app_id,
          appName: body.app_name,
          botUserId: body.bot_user_id,
        }),
      );
      return { success: true, workspace: { id, team_id: teamId, team_name: teamName } };
    },
  }),
  defineRoute({
    operationId: 'updateChatWorkspace',
    method: 'patch',
    path: '/api/slack/workspace',
    group: GROUP,
    summary: 'Update a chat workspace',
    description: 'That of `team_id`, else the only one; 409 `ambiguous` where there are several.',
    roles: ['owner'],
    projectScope: 'refused',
    body: WorkspacePatch,
    status: 200,
    response: WorkspaceChanged,
    errors: ['ambiguous'],
    audit: 'chat_workspace.updated',
    async handle({ body: { team_id: named, ...change } }, { tx, adapters: { encryption } }) {
      const workspace = await tx(async (work) => {
        const { teamId } = await changeWorkspace(work, encryption, named, changeOf(change));
        return findWorkspace(work, teamId);
      });
      if (!workspace) throw notFound('The chat workspace');
      return { success: true, workspace: shown(workspace) };
    },
  }),
  defineRoute({
    operationId: 'deleteChatWorkspace',
    method: 'delete',
    path: '/api/slack/workspace',
    group: GROUP,
    summary: 'Disconnect a chat workspace and delete its secrets',
    description: 'That of `team_id`, else the only one; 409 `ambiguous` where there are several.',
    roles: ['owner'],
    projectScope: 'refused',
    query: ofTeam,
    status: 200,
    response: WorkspaceDeleted,
    errors: ['ambiguous'],
    audit: 'chat_workspace.deleted',
    async handle({ query: { team_id: named } }, { tx }) {
      const { teamId, teamName } = await tx((work) => deleteWorkspace(work, named));
      return { success: true, message: `The chat workspace ${teamName} (${teamId}) was disconnected` };
    },
  }),
  defineRoute({
    operationId: 'testChatWorkspace',
    method: 'get',
    path: '/api/slack/test',
    group: GROUP,
    summary: 'Test the tokens of a chat workspace',
    description:
      'Asks Slack who the bot is (`auth.test`), whether the token has the scopes of the manifest, and whether the app token is known (`apps.connections.open`; no connection is opened). Of `team_id`, else of the newest active workspace; 404 where there is none. A wrong team, a revoked token, a missing scope or an absent Slack is 200 with `success: false` and the reason. A success fills `app_id`, `app_name` and `bot_user_id`.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    query: ofTeam,
    status: 200,
    response: WorkspaceTest,
    audit: { none: 'it reads; what it learns of the app is written as chat_workspace.updated' },
    async handle({ query: { team_id: teamId } }, { tx, reads, adapters: { encryption, chat } }) {
      const { problem, identity } = await checkWorkspace({ ...chat, encryption, reads, tx }, teamId);
      const details = identity
        ? { workspace_name: identity.teamName, bot_name: identity.botName, bot_id: identity.botId }
        : null;
      return problem === undefined
        ? { success: true, message: `Connected to ${identity?.teamName ?? ''}`, details, error: null }
        : { success: false, message: 'The workspace cannot be used', details, error: problem };
    },
  }),
  defineRoute({
    operationId: 'listChatWorkspaces',
    method: 'get',
    path: '/api/slack/workspaces',
    group: GROUP,
    summary: 'List chat workspaces, newest first',
    roles: ANY_ROLE,
    projectScope: 'refused',
    query: z.strictObject({ activeOnly: queryFlag(false) }),
    status: 200,
    response: z.array(Workspace),
    handle: async ({ query }, { reads }) => (await listWorkspaces(reads, query)).map(shown),
  }),
  defineRoute({
    operationId: 'getChatManifest',
    method: 'get',
    path: '/api/slack/manifest',
    group: GROUP,
    summary: "Get the manifest of the tenant's Slack app",
    description:
      'Create an app from it at Slack, install it in the workspace, and give its tokens and signing secret to `POST /api/slack/workspace`. Then have Slack verify the address for events, which is answered once the signing secret is known. The addresses name the tenant by a key and serve all its workspaces.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    status: 200,
    response: AppManifest,
    handle: async (_, { reads, publicUrl }) => appManifest(publicUrl, await chatKeyOf(reads)),
  }),
];
