import { ErrorCode, WebClient, type WebAPICallResult, type WebClientOptions } from '@slack/web-api';
import {
  limited,
  MALFORMED,
  NO_ANSWER,
  refusedCall,
  UNREACHABLE,
} from '../../../domain/people/chat/chat-failure-rules.ts';
import type { ChatAnswer, ChatFailure, ChatPlatform } from '../../../domain/people/chat/chat-platform.port.ts';
import { isResponseUrl } from '../../../domain/people/chat/inbound-rules.ts';
import type { OutboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { createLibraryFetch } from '../outbound/library-fetch.ts';
import { outboundFailure } from '../outbound/outbound-http.ts';

const TIMEOUT_MS = 8_000;
const ANSWER_MAX_BYTES = 1_048_576;

const nothing = () => undefined;
/** What the library writes may name people and channels. */
const SILENT = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  getLevel: () => 'error',
  setName: nothing,
} as unknown as NonNullable<WebClientOptions['logger']>;

export interface SlackParts {
  addresses: OutboundAddresses;
  /** Root of the interface: `https://slack.com/api/`. */
  apiUrl: string;
  /** Time-out of a call, from the request to the last byte of the answer. Default: `TIMEOUT_MS`. */
  timeoutMs?: number;
}

/** Slack's Web API. */
export function createSlackPlatform({
  addresses,
  apiUrl,
  timeoutMs = TIMEOUT_MS,
}: SlackParts): ChatPlatform & { close: () => Promise<void> } {
  const { fetch, close } = createLibraryFetch(addresses, { maxBytes: ANSWER_MAX_BYTES });
  const ask = async <Value>(
    token: string,
    call: (client: WebClient) => Promise<WebAPICallResult>,
    read: (answer: SlackAnswer) => Value | undefined,
  ): Promise<ChatAnswer<Value>> => {
    const client = new WebClient(token, {
      slackApiUrl: apiUrl,
      rejectRateLimitedCalls: true,
      retryConfig: { retries: 0 },
      allowAbsoluteUrls: false,
      timeout: timeoutMs,
      logger: SILENT,
      fetch,
    });
    try {
      const value = read((await call(client)) as unknown as SlackAnswer);
      return value === undefined ? MALFORMED : { isOk: true, value };
    } catch (error) {
      return failed(error);
    }
  };
  return {
    identifyBot: (botToken) =>
      ask(
        botToken,
        (client) => client.auth.test(),
        ({ team_id, team, user_id, user, bot_id, response_metadata }) =>
          isText(team_id) && isText(user_id) && isText(bot_id)
            ? {
                teamId: team_id,
                teamName: isText(team) ? team : team_id,
                botUserId: user_id,
                botName: isText(user) ? user : user_id,
                botId: bot_id,
                scopes: response_metadata?.scopes ?? [],
              }
            : undefined,
      ),
    appOfBot: (botToken, botId) =>
      ask(
        botToken,
        (client) => client.bots.info({ bot: botId }),
        ({ bot }) => {
          const { app_id, name } = (bot ?? {}) as SlackAnswer;
          return isText(app_id) && isText(name) ? { appId: app_id, appName: name } : undefined;
        },
      ),
    personOf: (botToken, chatUserId) =>
      ask(
        botToken,
        (client) => client.users.info({ user: chatUserId }),
        ({ user }) => {
          const { team_id, is_bot, deleted, is_stranger, profile } = (user ?? {}) as SlackAnswer;
          const { email } = (profile ?? {}) as SlackAnswer;
          if (!isText(team_id)) return undefined;
          const isPerson = is_bot !== true && deleted !== true && is_stranger !== true;
          return { email: isText(email) ? email : null, teamId: team_id, isPerson };
        },
      ),
    updateMessage: (botToken, place, { text, blocks }) =>
      ask(
        botToken,
        (client) => client.chat.update({ ...place, text, blocks, parse: 'none', link_names: false }),
        () => null,
      ),
    async respond(responseUrl, message) {
      if (!isResponseUrl(responseUrl, apiUrl)) return REFUSED_ADDRESS;
      try {
        const { status } = await fetch(responseUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, ...message }),
          signal: AbortSignal.timeout(timeoutMs),
        });
        if (status === 200) return { isOk: true, value: null };
        return {
          ...UNREACHABLE,
          reason: `Slack answered ${status} to a response`,
          isTransient: status === 429 || status >= 500,
        };
      } catch (error) {
        return failed(error);
      }
    },
    checkAppToken: (appToken) =>
      ask(
        appToken,
        (client) => client.apps.connections.open(),
        () => null,
      ),
    close,
  };
}

const REFUSED_ADDRESS: ChatFailure = {
  isOk: false,
  code: 'refused_address',
  reason: 'The address for responses is not one of Slack',
  isTransient: false,
};

type SlackAnswer = Record<string, unknown> & Pick<WebAPICallResult, 'response_metadata'>;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function failed(error: unknown): ChatFailure {
  const { code, retryAfter, data, statusCode } = error as {
    code?: string;
    retryAfter?: number;
    data?: { error?: unknown; needed?: unknown };
    statusCode?: number;
  };
  switch (code) {
    case ErrorCode.RateLimitedError:
      return limited(retryAfter ?? 1);
    case ErrorCode.PlatformError:
      return refusedCall(data?.error, data?.needed);
    case ErrorCode.HTTPError:
      return { ...UNREACHABLE, reason: `Slack answered ${statusCode}` };
    case undefined:
    case ErrorCode.RequestError:
      return outboundFailure(error).kind === 'timeout' ? NO_ANSWER : UNREACHABLE;
    default:
      // A limit without the time until which it holds.
      return UNREACHABLE;
  }
}
