import type { Answer } from '../../kernel/outbound/answer.port.ts';
import type { ChatMessage } from './message-rules.ts';

/**
 * Why a call of the chat platform failed. `code` is the platform's word for it, or `rate_limited`, `unreachable` or
 * `malformed`; `reason` is a sentence for people, without secrets.
 */
export interface ChatFailure {
  isOk: false;
  code: string;
  reason: string;
  /** Another attempt may succeed. */
  isTransient: boolean;
  /** Before which no other attempt should be made. */
  retryAfterMs?: number;
}
export type ChatAnswer<Value> = Answer<Value, ChatFailure>;

/** Whom a bot token belongs to. */
export interface BotIdentity {
  teamId: string;
  teamName: string;
  botUserId: string;
  botName: string;
  botId: string;
  /** What the token may do. */
  scopes: readonly string[];
}

export interface BotApp {
  appId: string;
  appName: string;
}

export interface ChatPerson {
  /** Null where the workspace does not show it. */
  email: string | null;
  /** The workspace that the person belongs to, which may be another one. */
  teamId: string;
  /** Neither a bot nor deactivated. */
  isPerson: boolean;
}

/** Where a message is. */
export interface MessagePlace {
  channel: string;
  /** The platform's timestamp of the message, which is its id in the channel. */
  ts: string;
}

/** A chat platform of workspaces with channels, bots and people. Failures are values. */
export interface ChatPlatform {
  identifyBot(botToken: string): Promise<ChatAnswer<BotIdentity>>;
  appOfBot(botToken: string, botId: string): Promise<ChatAnswer<BotApp>>;
  personOf(botToken: string, chatUserId: string): Promise<ChatAnswer<ChatPerson>>;
  updateMessage(botToken: string, place: MessagePlace, message: ChatMessage): Promise<ChatAnswer<null>>;
  /** Answers somebody's command or click where the platform said: shown to that person alone. */
  respond(responseUrl: string, message: ChatMessage): Promise<ChatAnswer<null>>;
  /** Whether the platform knows an app token; opens no connection with it. */
  checkAppToken(appToken: string): Promise<ChatAnswer<null>>;
}
