import { OperatorError } from '../operator-error.ts';
import type { CollaborationPlace } from './collaborate.ts';
import { waitFor } from './wait.ts';

const SLACK_SIMULATOR = new URL('../../test/simulators/slack/slack.ts', import.meta.url).href;
const HOST_SIMULATOR = new URL('../../test/simulators/git-hosts.ts', import.meta.url).href;
/** The service is started with an address of Slack, which therefore cannot be any free one. */
const PORT = 4010;
const API_URL = `http://127.0.0.1:${PORT}/api/`;
const REACHED_MS = 60_000;

interface ChatMessage {
  channel: string;
  text: string;
  blocks: { text?: { text: string }; fields?: { text: string }[]; elements?: { text?: string | { text: string } }[] }[];
  buttons: { text: string; value: string }[];
}
interface ChatUser {
  name: string;
}
interface Workspace {
  teamId: string;
  connection: Record<string, unknown>;
  messages: ChatMessage[];
  ephemerals: ChatMessage[];
  addUser: (name: string, email: string) => ChatUser;
  addChannel: (id: string) => string;
  createApp: (manifest: unknown) => void;
  command: (user: ChatUser, text: string) => Promise<unknown>;
  click: (user: ChatUser, message: ChatMessage, button: string) => Promise<unknown>;
}
interface Slack {
  addWorkspace: (name: string) => Workspace;
  close: () => Promise<void>;
}

/** An approval that is asked for in a channel and decided there, by whoever may. */
export async function showChat(place: CollaborationPlace): Promise<void> {
  const { say } = place;
  const { slackSimulator } = (await import(SLACK_SIMULATOR)) as { slackSimulator: (port: number) => Promise<Slack> };
  let slack: Slack;
  try {
    slack = await slackSimulator(PORT);
  } catch {
    say(`chat: not shown, as port ${PORT} for its simulator is taken`);
    return;
  }
  try {
    await show(place, slack.addWorkspace(`Demo${place.suffix}`));
  } finally {
    await slack.close();
  }
}

async function show({ api, suffix, say }: CollaborationPlace, workspace: Workspace): Promise<void> {
  const { teamId, connection } = workspace;
  workspace.createApp(await api.get('/api/slack/manifest'));
  await api.post('/api/slack/workspace', connection);
  const { gitHost } = (await import(HOST_SIMULATOR)) as {
    gitHost: (platform: string) => Promise<{ url: string; close: () => Promise<void> }>;
  };
  const host = await gitHost('host-a');
  try {
    const { success } = await api.get(`/api/slack/test?team_id=${teamId}`);
    if (success !== true) {
      say(`chat: not shown; for that, start the service with SLACK_API_URL=${API_URL} npm start`);
      return;
    }
    say('chat: a simulator of Slack was started on this machine; no workspace is real');
    const channel = workspace.addChannel('C0RELEASES');
    const repositoryIdentifier = `demo/chat-${suffix}`;
    const webhook = await api.post('/api/webhooks', {
      name: `demo chat ${suffix}`,
      event: 'approval.requested',
      provider: 'slack',
      config: { channel, teamId, filter: { 'data.repositoryIdentifier': repositoryIdentifier } },
    });
    const [dana, stranger] = [
      workspace.addUser('dana', webhook.createdBy as string),
      workspace.addUser('somebody', 'somebody@elsewhere.example'),
    ];
    await api.post('/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', defaultBranch: 'main' });
    await api.post('/api/integrations', {
      kind: 'host-a',
      name: `demo chat ${suffix}`,
      repositoryIdentifier,
      baseUrl: host.url,
      credentials: { type: 'token', token: 'host-token' },
    });
    await api.post('/api/environments', {
      repositoryIdentifier,
      name: 'uat',
      category: 'test',
      orgUsername: `uat-chat-${suffix}@demo.example.com`,
      approvalPolicy: { allowSelfApproval: true },
    });
    const { id: run } = await api.post('/api/flows/run', {
      payload: {
        id: 'install-packages',
        repositoryIdentifier,
        environmentName: 'uat',
        packages: { HarbourCore: '1.4.0-7' },
        pipeline: { id: 'install.yml', ref: 'main' },
      },
    });
    const seen = async (messages: readonly ChatMessage[]): Promise<ChatMessage> => {
      const found = await waitFor(
        async () => messages[0],
        (message) => message !== undefined,
        REACHED_MS,
      );
      if (!found) throw new OperatorError('Nothing came to the chat in time.');
      return found;
    };
    const message = await seen(workspace.messages);
    say('  a run needs an approval; in the channel:');
    sayMessage(message, say);
    await workspace.click(stranger, message, 'Approve');
    say('  somebody who is nobody here clicks on Approve, and alone sees:');
    sayMessage(await seen(workspace.ephemerals), say);
    workspace.ephemerals.length = 0;
    await workspace.command(dana, 'approvals');
    say('  dana types /quayside approvals, and alone sees:');
    sayMessage(await seen(workspace.ephemerals), say);
    const clickedAt = Date.now();
    await workspace.click(dana, message, 'Approve');
    const changed = await waitFor(
      async () => message,
      ({ buttons }) => buttons.length === 0,
      REACHED_MS,
    );
    if (!changed) throw new OperatorError('The message was not changed in time.');
    say(`  dana clicks on Approve; ${Date.now() - clickedAt} ms later the message is:`);
    sayMessage(changed, say);
    const started = await waitFor(
      () => api.get(`/api/flows/runs/${run as string}`),
      ({ cicdRunUrl }) => cicdRunUrl !== null,
      REACHED_MS,
    );
    say(`  the run goes on: ${started ? `its pipeline was started at ${started.cicdRunUrl as string}` : 'soon'}`);
    await api.post(`/api/flows/runs/${run as string}/cancel`, {});
    await waitFor(
      () => api.get(`/api/flows/runs/${run as string}`),
      ({ rawStatus }) => rawStatus === 'cancelled',
      REACHED_MS,
    );
  } finally {
    await host.close();
  }
  say('  the simulator is stopped; the project stays');
}

function sayMessage({ blocks }: ChatMessage, say: CollaborationPlace['say']): void {
  for (const { text, fields = [], elements = [] } of blocks) {
    if (text) for (const line of text.text.split('\n')) say(`    | ${line}`);
    if (fields.length > 0)
      say(`    | ${fields.map((field) => field.text.replaceAll('*', '').replace('\n', ': ')).join(', ')}`);
    const labels = elements.map(({ text: label }) => (typeof label === 'object' ? `[ ${label.text} ]` : (label ?? '')));
    if (labels.length > 0) say(`    | ${labels.join(' ')}`);
  }
}
