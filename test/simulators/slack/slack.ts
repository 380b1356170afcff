import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageProblem, plain } from './message-limits.ts';
import { type Block, SlackWorkspace } from './workspace.ts';

/** What goes wrong for the next `times` calls of `method` (default: any). */
export interface SlackFault {
  /** `lost`: the call is executed, and its answer does not arrive. */
  kind: 'limit' | 'hang' | 'html' | 'error' | 'status' | 'lost';
  method?: string;
  times?: number;
  /** Seconds that a `limit` lasts. */
  retryAfter?: number;
  /** Slack's word for an `error`; the number for a `status`. */
  error?: string;
  status?: number;
}

export interface SlackCall {
  method: string;
  arguments: Record<string, unknown>;
  at: number;
}

export interface SlackSimulator {
  url: string;
  /** For `SLACK_API_URL`. */
  apiUrl: string;
  calls: SlackCall[];
  workspaces: SlackWorkspace[];
  addWorkspace: (name: string) => SlackWorkspace;
  fail: (fault: SlackFault) => void;
  heal: () => void;
  /** Refuse more than one message a second and channel, as Slack does. */
  isRateEnforced: boolean;
  close: () => Promise<void>;
}

type Fields = Record<string, unknown>;
type Reply = Fields & { ok: boolean };

const SCOPES: Readonly<Record<string, string>> = {
  'bots.info': 'users:read',
  'users.info': 'users:read',
  'chat.postMessage': 'chat:write',
  'chat.update': 'chat:write',
};

/** Slack on loopback: its Web API, its `response_url`s, and what it sends to the address of an app. It keeps state. */
export async function slackSimulator(port = 0): Promise<SlackSimulator> {
  const calls: SlackCall[] = [];
  const workspaces: SlackWorkspace[] = [];
  const lastPosts = new Map<string, number>();
  let faults: (SlackFault & { times: number })[] = [];
  let url = '';

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const path = new URL(request.url ?? '/', url).pathname;
    const [, team, action] = /^\/actions\/(\w+)\/(\w+)$/.exec(path) ?? [];
    const method = team === undefined ? path.replace(/^\/api\//, '') : 'response_url';
    const given = fieldsOf(request.headers['content-type'], body);
    calls.push({ method, arguments: given, at: Date.now() });
    const fault = nextFault(method);
    if (fault && fault.kind !== 'lost') return goWrong(fault, response);
    if (team !== undefined && action !== undefined) return respond(team, action, given, response);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? plain(given.token);
    const workspace = workspaces.find(({ botToken, appToken }) => token === botToken || token === appToken);
    const limited = method === 'chat.postMessage' && isTooOften(workspace, given);
    if (limited) return void response.writeHead(429, { 'retry-after': '1' }).end('{"ok":false,"error":"ratelimited"}');
    const reply = call(method, given, workspace, token);
    if (fault) return void response.destroy();
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      ...(workspace && { 'x-oauth-scopes': workspace.scopes.join(',') }),
    });
    response.end(asciiJson(reply));
  };

  const nextFault = (method: string): SlackFault | undefined => {
    const fault = faults.find((each) => each.method === undefined || each.method === method);
    if (fault && --fault.times <= 0) faults = faults.filter((each) => each !== fault);
    return fault;
  };

  const goWrong = (fault: SlackFault, response: ServerResponse): void => {
    const json = { 'content-type': 'application/json; charset=utf-8' };
    if (fault.kind === 'limit')
      response
        .writeHead(429, { 'retry-after': String(fault.retryAfter ?? 1) })
        .end('{"ok":false,"error":"ratelimited"}');
    if (fault.kind === 'html')
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<html><body>Please sign in to the proxy</body></html>');
    if (fault.kind === 'error')
      response.writeHead(200, json).end(JSON.stringify({ ok: false, error: fault.error ?? 'internal_error' }));
    if (fault.kind === 'status') response.writeHead(fault.status ?? 503).end();
  };

  const isTooOften = (workspace: SlackWorkspace | undefined, { channel }: Fields): boolean => {
    if (!simulator.isRateEnforced) return false;
    const key = `${workspace?.teamId} ${String(channel)}`;
    const isSoon = Date.now() - (lastPosts.get(key) ?? 0) < 1_000;
    if (!isSoon) lastPosts.set(key, Date.now());
    return isSoon;
  };

  const respond = (team: string, id: string, given: Fields, response: ServerResponse): void => {
    const problem = messageProblem(given.text, given.blocks);
    const workspace = workspaces.find(({ teamId }) => teamId === team);
    const refusal = problem ?? (workspace ? workspace.respond(id, given) : 'no_team');
    const status = refusal === undefined ? 200 : problem === undefined ? 404 : 400;
    response.writeHead(status).end(refusal ?? 'ok');
  };

  const simulator: SlackSimulator = {
    url: '',
    apiUrl: '',
    calls,
    workspaces,
    isRateEnforced: false,
    addWorkspace(name) {
      const workspace = new SlackWorkspace(
        `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')}${workspaces.length + 1}`,
        name,
        () => url,
      );
      workspace.addChannel('C0GENERAL');
      workspaces.push(workspace);
      return workspace;
    },
    fail: (fault) => faults.push({ times: 1, ...fault }),
    heal: () => {
      faults = [];
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(simulator, { url, apiUrl: `${url}/api/` });
}

/** Arguments come as a form, in which structures are JSON texts, or as JSON. */
function fieldsOf(contentType: string | undefined, body: string): Fields {
  if (/json/.test(contentType ?? '')) return JSON.parse(body || '{}') as Fields;
  const fields: Fields = Object.fromEntries(new URLSearchParams(body));
  if (typeof fields.blocks === 'string') fields.blocks = JSON.parse(fields.blocks) as unknown;
  return fields;
}

/** Slack writes what is not ASCII in six characters. */
const asciiJson = (reply: Reply): string =>
  JSON.stringify(reply).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const refused = (error: string, more: Fields = {}): Reply => ({ ok: false, error, ...more });

function call(method: string, given: Fields, workspace: SlackWorkspace | undefined, token: string): Reply {
  if (token === '') return refused('not_authed');
  if (!workspace) return refused('invalid_auth');
  if (workspace.isRevoked) return refused('token_revoked');
  const isAppToken = token === workspace.appToken;
  if (isAppToken !== (method === 'apps.connections.open')) return refused('not_allowed_token_type');
  const needed = SCOPES[method];
  if (needed !== undefined && !workspace.scopes.includes(needed))
    return refused('missing_scope', { needed, provided: workspace.scopes.join(',') });
  const { teamId: team_id, name, botUserId, botId, appId } = workspace;
  switch (method) {
    case 'auth.test':
      return {
        ok: true,
        url: `https://${name.toLowerCase()}.slack.com/`,
        team: name,
        user: 'quayside',
        team_id,
        user_id: botUserId,
        bot_id: botId,
        is_enterprise_install: false,
      };
    case 'apps.connections.open':
      return { ok: true, url: 'wss://wss-primary.slack.com/link/?ticket=simulated' };
    case 'bots.info':
      if (given.bot !== botId) return refused('bot_not_found');
      return { ok: true, bot: { id: botId, deleted: false, name: 'Quayside', app_id: appId, user_id: botUserId } };
    case 'users.info':
      return userInfo(workspace, String(given.user));
    case 'chat.postMessage':
      return postMessage(workspace, given);
    case 'chat.update':
      return updateMessage(workspace, given);
    default:
      return refused('unknown_method');
  }
}

function userInfo(workspace: SlackWorkspace, id: string): Reply {
  const user = workspace.users.get(id);
  if (!user) return refused('user_not_found');
  const { name, email, isBot = false, isDeleted = false, isStranger = false } = user;
  const showsEmail = workspace.scopes.includes('users:read.email') && email !== undefined;
  return {
    ok: true,
    user: {
      id,
      team_id: isStranger ? 'T0ELSEWHERE' : workspace.teamId,
      name,
      deleted: isDeleted,
      is_bot: isBot,
      ...(isStranger && { is_stranger: true }),
      profile: { real_name: name, ...(showsEmail && { email }) },
    },
  };
}

function postMessage(workspace: SlackWorkspace, given: Fields): Reply {
  const id = plain(given.channel);
  const channel = workspace.channels.get(id);
  if (!channel) return refused('channel_not_found');
  if (channel.isArchived) return refused('is_archived');
  if (!channel.isMember) return refused('not_in_channel');
  const problem = messageProblem(given.text, given.blocks);
  if (problem !== undefined) return refused(problem);
  const message = workspace.post(id, plain(given.text), (given.blocks ?? []) as Block[]);
  const { text, ts, blocks } = message;
  return { ok: true, channel: id, ts, message: { type: 'message', text, ts, blocks } };
}

function updateMessage(workspace: SlackWorkspace, given: Fields): Reply {
  const message = workspace.messages.find(({ channel, ts }) => channel === given.channel && ts === given.ts);
  if (!message) return refused('message_not_found');
  const problem = messageProblem(given.text, given.blocks);
  if (problem !== undefined) return refused(problem);
  workspace.update(message, plain(given.text), (given.blocks ?? []) as Block[]);
  return { ok: true, channel: message.channel, ts: message.ts, text: message.text };
}
