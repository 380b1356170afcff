import { type ControlRequest, type ControlServer, controlServer } from '../control-server.ts';
import type { SlackFault, SlackSimulator } from './slack.ts';
import type { SlackWorkspace } from './workspace.ts';

/** What the control address takes, for its own list of actions. */
export const ACTIONS = [
  'GET /                                    the workspaces with their tokens, people and channels',
  'GET /{team}                              the messages of a workspace, and those that one person sees',
  'PUT /{team}/app                          the body is the manifest of GET /api/slack/manifest',
  'POST /{team}/users {"name": "dana", "email": "dana@example.com"}',
  'POST /{team}/channels {"id": "C0RELEASES"}',
  'POST /{team}/command {"user": "dana", "text": "approvals"}',
  'POST /{team}/click {"user": "dana", "ts": "…", "button": "Approve"}',
  'POST /{team}/uninstall {}',
  'POST /faults {"kind": "limit", "retryAfter": 5, "times": 1, "method": "chat.postMessage"}',
  '    kinds: limit hang html lost error (with "error") status (with "status")',
  'DELETE /faults                           everything works again',
] as const;

/** Changes a simulated Slack from outside, for `npm run slack-simulator` and demonstrations. */
export const slackControl = (slack: SlackSimulator, port = 0): Promise<ControlServer> =>
  controlServer((request) => act(slack, request), port);

const shown = ({ teamId, name, connection, users, channels }: SlackWorkspace) => ({
  teamId,
  name,
  connection,
  users: [...users.values()],
  channels: [...channels.keys()],
});

function act(slack: SlackSimulator, { method, url, fields }: ControlRequest): unknown {
  if (method === 'GET' && url === '/')
    return { isSimulator: true, apiUrl: slack.apiUrl, workspaces: slack.workspaces.map(shown), actions: ACTIONS };
  if (url === '/faults') {
    if (method === 'DELETE') slack.heal();
    else slack.fail(fields() as unknown as SlackFault);
    return {};
  }
  const [, team, action = ''] = /^\/(T\w+)(?:\/(\w+))?$/.exec(url) ?? [];
  const workspace = slack.workspaces.find(({ teamId }) => teamId === team);
  if (!workspace) throw new Error(`${method} ${url} is none of:\n${ACTIONS.join('\n')}`);
  const { name, email, id, user, text, ts, button, ...manifest } = fields() as Record<string, string>;
  const person = [...workspace.users.values()].find((each) => each.name === user);
  const known = () => {
    if (!person) throw new Error(`there is nobody called ${user}`);
    return person;
  };
  switch (`${method} ${action}`) {
    case 'GET ':
      return { messages: workspace.messages, ephemerals: workspace.ephemerals };
    case 'PUT app':
      workspace.createApp(manifest as never);
      return Object.fromEntries(workspace.addresses);
    case 'POST users':
      return workspace.addUser(name ?? '', email);
    case 'POST channels':
      return { id: workspace.addChannel(id ?? '') };
    case 'POST command':
      void workspace.command(known(), text ?? '');
      return {};
    case 'POST click': {
      const message = [...workspace.messages, ...workspace.ephemerals].find((each) => each.ts === ts);
      if (!message) throw new Error(`there is no message ${ts}`);
      void workspace.click(known(), message, button ?? '');
      return {};
    }
    case 'POST uninstall':
      void workspace.uninstall();
      return {};
    default:
      throw new Error(`${method} ${url} is none of:\n${ACTIONS.join('\n')}`);
  }
}
