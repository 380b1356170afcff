import { createHmac, randomBytes } from 'node:crypto';
import { type Button, buttonsOf, mentionsOf } from './message-limits.ts';

export type Block = Record<string, unknown>;

export interface SlackUser {
  id: string;
  name: string;
  email: string | undefined;
  isBot?: boolean;
  isDeleted?: boolean;
  /** Whether the person is of another workspace, in a channel that both share. */
  isStranger?: boolean;
}

export interface SlackMessage {
  channel: string;
  ts: string;
  text: string;
  blocks: Block[];
  /** How often it was changed. */
  edits: number;
  buttons: Button[];
  /** What in it is alive: mentions of people, channels and groups. */
  mentions: string[];
  /** Seen by one person alone. */
  only?: string;
}

/** What was sent to the app's addresses, and its answer. */
export interface Sent {
  status: number;
  text: string;
  ms: number;
}

export interface Request {
  url: string;
  headers: Record<string, string>;
  body: string;
}

type Kind = 'commands' | 'interactions' | 'events';

/** The signature of a request (`v0`). @param at the time that it names. */
export function signatureHeaders(secret: string, body: string, at = new Date()): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` };
}

const ALL_SCOPES = ['chat:write', 'commands', 'users:read', 'users:read.email'];

/** One workspace with its people, channels and messages, and the one app that is installed in it. */
export class SlackWorkspace {
  readonly teamId: string;
  readonly name: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret = randomBytes(16).toString('hex');
  readonly botUserId: string;
  readonly botId: string;
  readonly appId: string;
  scopes = [...ALL_SCOPES];
  isRevoked = false;
  readonly users = new Map<string, SlackUser>();
  /** By id; the app is in those whose value is true. */
  readonly channels = new Map<string, { isMember: boolean; isArchived: boolean }>();
  readonly messages: SlackMessage[] = [];
  /** Messages that only one person sees. */
  readonly ephemerals: SlackMessage[] = [];
  /** The app's addresses, from its manifest. */
  readonly addresses = new Map<Kind, string>();
  readonly #baseUrl: () => string;
  readonly #responses = new Map<string, { uses: number; user: string; channel: string; message?: SlackMessage }>();
  #clock = Date.now() * 1_000;

  constructor(suffix: string, name: string, baseUrl: () => string) {
    this.name = name;
    this.teamId = `T0${suffix}`;
    this.botUserId = `U0BOT${suffix}`;
    this.botId = `B0${suffix}`;
    this.appId = `A0${suffix}`;
    this.botToken = `xoxb-${suffix}-${randomBytes(9).toString('hex')}`;
    this.appToken = `xapp-1-${suffix}-${randomBytes(9).toString('hex')}`;
    this.#baseUrl = baseUrl;
  }

  /** As `POST /api/slack/workspace` takes it. */
  get connection() {
    return {
      team_id: this.teamId,
      team_name: this.name,
      bot_token: this.botToken,
      app_token: this.appToken,
      signing_secret: this.signingSecret,
    };
  }

  addUser(name: string, email?: string, more: Partial<SlackUser> = {}): SlackUser {
    const user = {
      id: `U${String(this.users.size + 1).padStart(4, '0')}${this.teamId.slice(2)}`,
      name,
      email,
      ...more,
    };
    this.users.set(user.id, user);
    return user;
  }

  addChannel(id: string, { isMember = true, isArchived = false } = {}): string {
    this.channels.set(id, { isMember, isArchived });
    return id;
  }

  /** Takes the app's addresses from its manifest, as an admin does who creates the app. */
  createApp(manifest: {
    features: { slash_commands: { url: string }[] };
    settings: { interactivity: { request_url: string }; event_subscriptions: { request_url: string } };
  }): void {
    this.addresses.set('commands', manifest.features.slash_commands[0]?.url ?? '');
    this.addresses.set('interactions', manifest.settings.interactivity.request_url);
    this.addresses.set('events', manifest.settings.event_subscriptions.request_url);
  }

  post(channel: string, text: string, blocks: Block[], only?: string): SlackMessage {
    this.#clock += 1;
    const ts = `${Math.floor(this.#clock / 1_000_000)}.${String(this.#clock % 1_000_000).padStart(6, '0')}`;
    const message: SlackMessage = {
      channel,
      ts,
      edits: 0,
      ...shown(text, blocks),
      ...(only !== undefined && { only }),
    };
    (only === undefined ? this.messages : this.ephemerals).push(message);
    return message;
  }

  update(message: SlackMessage, text: string, blocks: Block[]): void {
    Object.assign(message, shown(text, blocks), { edits: message.edits + 1 });
  }

  /** A use of a `response_url`: what of the message it shows, or Slack's word for why it does not. */
  respond(id: string, body: Record<string, unknown>): string | undefined {
    const given = this.#responses.get(id);
    if (!given) return 'expired_url';
    if (given.uses >= 5) return 'used_url';
    given.uses += 1;
    const { text = '', blocks = [] } = body as { text?: string; blocks?: Block[] };
    if (body.replace_original === true && given.message) this.update(given.message, text, blocks);
    else this.post(given.channel, text, blocks, body.response_type === 'in_channel' ? undefined : given.user);
    return undefined;
  }

  #responseUrl(user: string, channel: string, message?: SlackMessage): string {
    const id = randomBytes(8).toString('hex');
    this.#responses.set(id, { uses: 0, user, channel, ...(message && { message }) });
    return `${this.#baseUrl()}/actions/${this.teamId}/${id}`;
  }

  commandRequest(user: SlackUser, text: string, channel = 'C0GENERAL'): Request {
    const body = new URLSearchParams({
      token: 'deprecated',
      team_id: this.teamId,
      team_domain: this.name.toLowerCase(),
      channel_id: channel,
      channel_name: 'general',
      user_id: user.id,
      user_name: user.name,
      command: '/quayside',
      text,
      api_app_id: this.appId,
      is_enterprise_install: 'false',
      response_url: this.#responseUrl(user.id, channel),
      trigger_id: randomBytes(8).toString('hex'),
    }).toString();
    return this.#signed('commands', body, 'application/x-www-form-urlencoded');
  }

  clickRequest(user: SlackUser, message: SlackMessage, { actionId, value, text }: Button): Request {
    const payload = {
      type: 'block_actions',
      user: { id: user.id, username: user.name, name: user.name, team_id: this.teamId },
      api_app_id: this.appId,
      token: 'deprecated',
      container: {
        type: 'message',
        message_ts: message.ts,
        channel_id: message.channel,
        is_ephemeral: message.only !== undefined,
      },
      trigger_id: randomBytes(8).toString('hex'),
      team: { id: this.teamId, domain: this.name.toLowerCase() },
      enterprise: null,
      is_enterprise_install: false,
      channel: { id: message.channel, name: 'general' },
      ...(message.only === undefined && { message: { type: 'message', ts: message.ts, text: message.text } }),
      response_url: this.#responseUrl(user.id, message.channel, message),
      actions: [
        {
          type: 'button',
          action_id: actionId,
          block_id: 'b1',
          value,
          text: { type: 'plain_text', text },
          action_ts: message.ts,
        },
      ],
    };
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    return this.#signed('interactions', body, 'application/x-www-form-urlencoded');
  }

  eventRequest(event: Record<string, unknown>, eventId = `Ev${randomBytes(6).toString('hex').toUpperCase()}`): Request {
    const body = JSON.stringify({
      token: 'deprecated',
      team_id: this.teamId,
      api_app_id: this.appId,
      event,
      type: 'event_callback',
      event_id: eventId,
      event_time: Math.floor(Date.now() / 1_000),
    });
    return this.#signed('events', body, 'application/json');
  }

  verificationRequest(challenge: string): Request {
    const body = JSON.stringify({ token: 'deprecated', challenge, type: 'url_verification' });
    return this.#signed('events', body, 'application/json');
  }

  #signed(kind: Kind, body: string, contentType: string): Request {
    const url = this.addresses.get(kind);
    if (!url) throw new Error(`the app of ${this.name} has no address for ${kind}`);
    return { url, body, headers: { 'content-type': contentType, ...signatureHeaders(this.signingSecret, body) } };
  }

  /** Sends a request as Slack does. */
  async send({ url, headers, body }: Request): Promise<Sent> {
    const startedAt = performance.now();
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
    const text = await response.text();
    return { status: response.status, text, ms: performance.now() - startedAt };
  }

  command = (user: SlackUser, text: string, channel?: string): Promise<Sent> =>
    this.send(this.commandRequest(user, text, channel));

  /** Clicks the button of a message by its text. */
  click(user: SlackUser, message: SlackMessage, label: string): Promise<Sent> {
    const button = message.buttons.find(({ text }) => text === label);
    if (!button) throw new Error(`the message has no button ${label}`);
    return this.send(this.clickRequest(user, message, button));
  }

  /** The app is removed from the workspace: its tokens no longer work, and it is told. */
  uninstall(): Promise<Sent> {
    this.isRevoked = true;
    return this.send(this.eventRequest({ type: 'app_uninstalled' }));
  }

  revokeTokens(): Promise<Sent> {
    this.isRevoked = true;
    return this.send(this.eventRequest({ type: 'tokens_revoked', tokens: { oauth: [], bot: [this.botUserId] } }));
  }
}

const shown = (text: string, blocks: Block[]) => ({
  text,
  blocks,
  buttons: buttonsOf(blocks),
  mentions: mentionsOf(text, blocks),
});
