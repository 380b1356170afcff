import { featureExamples } from './example.ts';

const workspace = {
  team_id: 'T0ACME001',
  team_name: 'Acme',
  bot_token: 'xoxb-1-an-example',
  app_token: 'xapp-1-an-example',
  signing_secret: '8f742231b10e8888abcd99yyyzzz85a5',
};

export const chatExamples = featureExamples(
  async (app) => {
    const saved = await app.as(app.owner).post(201, '/api/slack/workspace', workspace);
    return { chatWorkspaceId: saved.workspace.id as string };
  },
  {
    getChatWorkspace: () => ({ query: { team_id: workspace.team_id } }),
    saveChatWorkspace: () => ({ body: workspace }),
    updateChatWorkspace: () => ({ body: { team_id: workspace.team_id, team_name: 'Acme Ltd' } }),
    deleteChatWorkspace: () => ({ query: { team_id: workspace.team_id } }),
    testChatWorkspace: () => ({ query: { team_id: workspace.team_id } }),
    listChatWorkspaces: () => ({ query: { activeOnly: 'true' } }),
    getChatManifest: () => ({}),
  },
);
