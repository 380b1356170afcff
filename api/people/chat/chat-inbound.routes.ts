import { z } from 'zod';
import { receiveInbound } from '../../../domain/people/chat/inbound.mutations.ts';
import { assertPlausibleSignature } from '../../../domain/people/chat/inbound-signature.ts';
import { INBOUND_KINDS, type InboundKind } from '../../../domain/people/chat/manifest-rules.ts';
import { signalChatLane } from '../../../workflows/people/chat/chat-lane.contract.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { JsonObject } from '../../http/parameters.ts';
import { RawReply } from '../../http/replies.ts';

const GROUP = 'Chat workspace';
const BODY_MAX_BYTES = 512 * 1_024;
const text = z.string().max(1_000).optional();

const InboundHeaders = z.object({
  'x-slack-signature': text.meta({ description: '`v0=` and the HMAC-SHA256 of `v0:{timestamp}:{body}`, in hex' }),
  'x-slack-request-timestamp': text.meta({ description: 'Seconds since 1970; at most 5 minutes ago' }),
  'x-slack-retry-num': text.meta({ description: 'How often an event was sent before' }),
});

const OPERATIONS: Record<InboundKind, { operationId: string; summary: string; description: string }> = {
  commands: {
    operationId: 'receiveChatCommand',
    summary: 'Receive a slash command of Slack',
    description: 'The answer follows at the `response_url` of the command, for that person alone.',
  },
  interactions: {
    operationId: 'receiveChatInteraction',
    summary: 'Receive a click on a button of a Slack message',
    description: 'Approve and Reject are decisions of the person who clicked; other clicks are acknowledged.',
  },
  events: {
    operationId: 'receiveChatEvent',
    summary: 'Receive an event of Slack',
    description:
      '`app_uninstalled` and `tokens_revoked` make the workspace inactive; `url_verification` is answered with its challenge; others are acknowledged.',
  },
};

const COMMON =
  'For Slack, at the addresses of `GET /api/slack/manifest`; `key` names the tenant. A request without a valid signature of one of its workspaces, one that is older than 5 minutes, and one that came before get 401. It is stored and answered at once; the lane of the workspace does it. More than HOOK_RATE_LIMIT_PER_MINUTE requests for a key from one address get 429.';

const inboundRoute = (kind: InboundKind) =>
  definePublicRoute({
    operationId: OPERATIONS[kind].operationId,
    method: 'post',
    path: `/api/slack/inbound/{key}/${kind}`,
    group: GROUP,
    summary: OPERATIONS[kind].summary,
    description: `${OPERATIONS[kind].description}\n\n${COMMON}`,
    params: z.object({ key: z.string().max(100) }),
    headers: InboundHeaders,
    admit: ({ headers }) => assertPlausibleSignature(headers, new Date()),
    takesHook: true,
    body: JsonObject,
    ...(kind !== 'events' && { bodyType: 'form' as const }),
    bodyLimitBytes: BODY_MAX_BYTES,
    status: 200,
    response: z.string(),
    contentTypes: ['text/plain'],
    errors: ['unauthenticated'],
    audit: {
      none: 'the lane of the workspace writes what it does: approval.voted, chat_workspace.disconnected and others',
    },
    async handle({ params: { key }, headers, body }, { adapters, actingAs, address, bodyBytes, now }) {
      const { encryption, hooks, launch, chat } = adapters;
      const limit = async () => {
        await hooks.limit(`${address} slack ${key}`);
      };
      const { findSenders, apiUrl } = chat;
      const receiver = { findSenders, actingAs, encryption, limit, now, apiUrl };
      const { challenge, lane } = await receiveInbound(receiver, key, kind, { headers, body, bodyBytes });
      if (lane) signalChatLane(launch, lane);
      return new RawReply('text/plain; charset=utf-8', challenge ?? '');
    },
  });

export const chatInboundRoutes = INBOUND_KINDS.map(inboundRoute);
