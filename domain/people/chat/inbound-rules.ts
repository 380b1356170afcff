import { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import type { MessagePlace } from './chat-platform.port.ts';
import type { InboundKind } from './manifest-rules.ts';

/** What is to be done for a request of the platform. */
export type ChatActionContent =
  | { kind: 'command'; chatUserId: string; text: string }
  | {
      kind: 'click';
      chatUserId: string;
      actionId: string;
      value: string;
      /** Where the message is, if everybody sees it; absent: only that person does, or it is not said. */
      place?: MessagePlace;
    }
  | { kind: 'disconnect'; reason: 'app_uninstalled' | 'tokens_revoked'; occurredAt: string | null };

export interface InboundRequest {
  /** Null: it names no workspace, as the verification of an address does. */
  teamId: string | null;
  eventId: string | null;
  responseUrl: string | null;
  /** Null: it is acknowledged, and nothing is to be done. */
  content: ChatActionContent | null;
  /** To be answered as it is. */
  challenge: string | null;
}

const NOTHING: InboundRequest = { teamId: null, eventId: null, responseUrl: null, content: null, challenge: null };
const TEXT_MAX = 1_000;

/** Reads the body of a request: fields of a form, or an event. */
export function readInbound(kind: InboundKind, body: unknown): InboundRequest {
  switch (kind) {
    case 'commands':
      return readCommand(new UntrustedJson(body));
    case 'interactions':
      return readInteraction(new UntrustedJson(parsed(new UntrustedJson(body).at('payload').text(500_000))));
    case 'events':
      return readEvent(new UntrustedJson(body));
  }
}

function readCommand(body: UntrustedJson): InboundRequest {
  const chatUserId = body.at('user_id').text(40);
  const text = body.at('text').text(TEXT_MAX) ?? '';
  return {
    ...NOTHING,
    teamId: body.at('team_id').text(40),
    responseUrl: body.at('response_url').text(),
    content: chatUserId === null ? null : { kind: 'command', chatUserId, text },
  };
}

function readInteraction(body: UntrustedJson): InboundRequest {
  const teamId = body.at('team', 'id').text(40);
  const chatUserId = body.at('user', 'id').text(40);
  const actionId = body.at('actions', 0, 'action_id').text(255);
  const isClick = body.at('type').text() === 'block_actions' && chatUserId !== null && actionId !== null;
  if (!isClick || !isDecision(actionId)) return { ...NOTHING, teamId };
  const value = body.at('actions', 0, 'value').text() ?? '';
  const isPrivate = body.at('container', 'is_ephemeral').isTrue();
  const channel = body.at('container', 'channel_id').text(40);
  const ts = body.at('container', 'message_ts').text(40);
  const place = !isPrivate && channel !== null && ts !== null ? { channel, ts } : undefined;
  return {
    ...NOTHING,
    teamId,
    responseUrl: body.at('response_url').text(),
    content: { kind: 'click', chatUserId, actionId, value, ...(place && { place }) },
  };
}

function readEvent(body: UntrustedJson): InboundRequest {
  if (body.at('type').text() === 'url_verification')
    return { ...NOTHING, challenge: body.at('challenge').text() ?? '' };
  const given = { ...NOTHING, teamId: body.at('team_id').text(40), eventId: body.at('event_id').text(100) };
  const occurredAt = body.at('event_time').dateTime();
  const type = body.at('event', 'type').text(100);
  // Tokens of people may be revoked as well; the app has none.
  const losesBot = type === 'tokens_revoked' && body.at('event', 'tokens', 'bot').items(1).length > 0;
  return losesBot || type === 'app_uninstalled'
    ? { ...given, content: { kind: 'disconnect', reason: losesBot ? 'tokens_revoked' : 'app_uninstalled', occurredAt } }
    : given;
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Names of buttons that decide on the approval in their value. */
export const APPROVE_ACTION = 'approval.approve';
export const REJECT_ACTION = 'approval.reject';
export const isDecision = (actionId: string): boolean => actionId === APPROVE_ACTION || actionId === REJECT_ACTION;

/** Where the platform lets answers be sent. */
const RESPONSE_ORIGINS = new Set(['https://hooks.slack.com', 'https://hooks.slack-gov.com']);

/**
 * Whether answers may be sent to a `response_url`: at the vendor's host for that, or where its interface is.
 * @param apiUrl root of the interface.
 */
export function isResponseUrl(url: string, apiUrl: string): boolean {
  const origin = URL.parse(url)?.origin;
  return origin !== undefined && (RESPONSE_ORIGINS.has(origin) || origin === URL.parse(apiUrl)?.origin);
}
