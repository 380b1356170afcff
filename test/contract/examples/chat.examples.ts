import { signatureHeaders } from '../../simulators/slack/workspace.ts';
import { featureExamples } from './example.ts';

const workspace = {
  team_id: 'T0ACME001',
  team_name: 'Acme',
  bot_token: 'xoxb-1-an-example',
  app_token: 'xapp-1-an-example',
  signing_secret: '8f742231b10e8888abcd99yyyzzz85a5',
};

const sender = { team_id: workspace.team_id, user_id: 'U0DANA', response_url: 'https://hooks.slack.com/commands/1' };

const signedForm = (key: string, form: Record<string, string>) => ({
  params: { key },
  form,
  headers: signatureHeaders(workspace.signing_secret, new URLSearchParams(form).toString()),
});

export const chatExamples = featureExamples(
  async (app) => {
    const saved = await app.as(app.owner).post(201, '/api/slack/workspace', workspace);
    const manifest = await app.as(app.owner).get(200, '/api/slack/manifest');
    const [, key = ''] = /inbound\/([^/]+)\//.exec(manifest.settings.interactivity.request_url as string) ?? [];
    return { chatWorkspaceId: saved.workspace.id as string, key };
  },
  {
    getChatWorkspace: () => ({ query: { team_id: workspace.team_id } }),
    saveChatWorkspace: () => ({ body: workspace }),
    updateChatWorkspace: () => ({ body: { team_id: workspace.team_id, team_name: 'Acme Ltd' } }),
    deleteChatWorkspace: () => ({ query: { team_id: workspace.team_id } }),
    testChatWorkspace: () => ({ query: { team_id: workspace.team_id } }),
    listChatWorkspaces: () => ({ query: { activeOnly: 'true' } }),
    getChatManifest: () => ({}),
    receiveChatCommand: ({ key }) => signedForm(key, { ...sender, command: '/quayside', text: 'approvals' }),
    receiveChatInteraction: ({ key }) =>
      signedForm(key, { payload: JSON.stringify({ type: 'block_actions', team: { id: workspace.team_id } }) }),
    receiveChatEvent: ({ key }) => {
      const body = { type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' };
      return { params: { key }, body, headers: signatureHeaders(workspace.signing_secret, JSON.stringify(body)) };
    },
  },
);
