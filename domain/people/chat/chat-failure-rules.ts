import type { ChatFailure } from './chat-platform.port.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  invalid_auth: 'Slack does not know the token',
  not_authed: 'Slack got no token',
  token_revoked: 'The token was revoked',
  token_expired: 'The token has expired',
  account_inactive: 'The app was removed from the workspace, or its bot user was deactivated',
  not_allowed_token_type: 'The token is of another type than the call needs',
  team_access_not_granted: 'The app may not act in this workspace',
  channel_not_found: 'Slack has no such channel, or the app may not see it',
  not_in_channel: 'The app is not in the channel: invite it there',
  is_archived: 'The channel is archived',
  restricted_action: 'The workspace does not allow the app to post there',
  msg_too_long: 'The message is too long',
  msg_blocks_too_long: 'The blocks of the message are too long',
  invalid_blocks: 'The blocks of the message are not valid',
  message_not_found: 'The message is gone',
  cant_update_message: 'The message cannot be changed',
  user_not_found: 'Slack has no such user',
};

/** The token is void until somebody connects the workspace again. */
const VOID_TOKEN = ['invalid_auth', 'token_revoked', 'account_inactive'] as const;
export type VoidToken = (typeof VOID_TOKEN)[number];

/** Which of these a failure is; undefined: none. */
export const voidTokenOf = ({ code }: ChatFailure): VoidToken | undefined => VOID_TOKEN.find((each) => each === code);

const LIMITS: ReadonlySet<string> = new Set(['ratelimited', 'rate_limited']);

/** Whether the platform was asked too often, whatever the status of its answer. */
export const isLimit = ({ code }: ChatFailure): boolean => LIMITS.has(code);

/** The platform's own trouble, which passes. */
const TRANSIENT = new Set([
  ...LIMITS,
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'team_added_to_org',
]);

/** A word of the platform; what else stands in its place is not repeated. */
const WORD = /^[a-z][a-z0-9_]{0,99}$/;

/** What an answer `{ok: false, error}` means. */
export function refusedCall(error: unknown, needed?: unknown): ChatFailure {
  if (typeof error !== 'string' || !WORD.test(error)) return MALFORMED;
  const reason =
    error === 'missing_scope'
      ? `The app lacks the scope ${typeof needed === 'string' && /^[\w:.,-]{1,200}$/.test(needed) ? needed : 'that the call needs'}`
      : (SENTENCES[error] ?? 'Slack refused the call');
  return { isOk: false, code: error, reason: `${reason} (${error})`, isTransient: TRANSIENT.has(error) };
}

/** A page of a proxy, or what else is no answer of the interface. */
export const MALFORMED: ChatFailure = {
  isOk: false,
  code: 'malformed',
  reason: 'Slack answered with something that is not the JSON of its interface',
  isTransient: true,
};

export const UNREACHABLE: ChatFailure = {
  isOk: false,
  code: 'unreachable',
  reason: 'Slack could not be reached',
  isTransient: true,
};

export const NO_ANSWER: ChatFailure = {
  isOk: false,
  code: 'unreachable',
  reason: 'Slack did not answer in time',
  isTransient: true,
};

export const limited = (retryAfterSeconds: number): ChatFailure => ({
  isOk: false,
  code: 'rate_limited',
  reason: `Slack takes no more calls for ${retryAfterSeconds} s`,
  isTransient: true,
  retryAfterMs: retryAfterSeconds * 1_000,
});

/** What the platform answers to a message. */
export interface PostAnswer {
  ok?: unknown;
  error?: unknown;
  needed?: unknown;
  channel?: unknown;
  ts?: unknown;
}

/** Its answer repeats the message, which may be longer than the part that is read. */
const TAKEN = /^\s*\{\s*"ok"\s*:\s*true\s*[,}]/;
const PLACE = /"channel"\s*:\s*"(\w+)"\s*,\s*"ts"\s*:\s*"([\d.]+)"/;

/** Reads an answer of which the end may be missing; undefined where it is none of the interface. */
export function readPostAnswer(body: string): PostAnswer | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    if (!TAKEN.test(body)) return undefined;
    const [, channel, ts] = PLACE.exec(body.slice(0, 500)) ?? [];
    return { ok: true, channel, ts };
  }
}
