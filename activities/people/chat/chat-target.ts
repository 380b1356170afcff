import { ChannelPace } from '../../../domain/people/chat/channel-pace.ts';
import { insertApprovalMessage } from '../../../domain/people/chat/chat-messages.queries.ts';
import { type ShownApproval, approvalMessage } from '../../../domain/people/chat/approval-message-rules.ts';
import { shownApproval } from '../../../domain/people/chat/shown-approval.queries.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import {
  isLimit,
  MALFORMED,
  type PostAnswer,
  readPostAnswer,
  refusedCall,
} from '../../../domain/people/chat/chat-failure-rules.ts';
import type { ChatFailure } from '../../../domain/people/chat/chat-platform.port.ts';
import { openChatSecret } from '../../../domain/people/chat/chat-secrets.ts';
import { findWorkspace, secretsOfWorkspace } from '../../../domain/people/chat/chat-workspaces.queries.ts';
import type { ChatMessage } from '../../../domain/people/chat/message-rules.ts';
import { compileMessageTemplate } from '../../../domain/people/chat/message-template.ts';
import { notification } from '../../../domain/people/chat/notification-rules.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { isId } from '../../../domain/kernel/shared/ids.ts';
import type { Envelope } from '../../../domain/events/webhooks/event-catalog.ts';
import type { ClaimedDelivery, LaneKey } from '../../../domain/events/webhooks/lane-store.queries.ts';
import type { AttemptOutcome } from '../../../domain/events/webhooks/webhook-sender.port.ts';
import { actSignal, chatLaneContract } from '../../../workflows/people/chat/chat-lane.contract.ts';
import type { Deps } from '../../deps.ts';
import type { LaneTarget } from '../../events/webhooks/lane-target.ts';
import type { OpenChannel } from '../../events/webhooks/webhooks.activities.ts';
import { type AskedWorkspace, noteVoidToken } from './void-token.ts';

interface ChatSettings {
  channel: string;
  chatTeamId: string | null;
  bodyTemplate: string | null;
}

/** A delivery that has been refused for so long is left to the attempts that its webhook allows. */
const PACED_MAX_MS = 24 * 3_600_000;

/** Opens the targets of webhooks that post to channels; those of a process share what they know of its limits. */
export function createChatTargets(deps: Deps): OpenChannel {
  const pace = new ChannelPace(() => Date.now());
  return (lane, target, stored) => openChatTarget({ ...deps, pace }, lane, target, stored);
}

/** A webhook that posts to a channel: its message for each event, sent with the token of the workspace. */
async function openChatTarget(
  deps: Deps & { pace: ChannelPace },
  lane: LaneKey,
  target: LaneTarget,
  { channel, chatTeamId, bodyTemplate }: ChatSettings,
): Promise<LaneTarget> {
  const reads = deps.reads.as(systemActor(lane, 'chat'));
  const workspace = await findWorkspace(reads, chatTeamId ?? undefined);
  const secrets = workspace?.isActive ? await secretsOfWorkspace(reads, workspace.id) : undefined;
  const url = new URL('chat.postMessage', deps.chat.apiUrl).href;
  if (!workspace || !secrets) return { ...target, url, refusal: notConnected(chatTeamId) };
  const place = `${workspace.id} ${channel}`;
  const token = openChatSecret(deps.encryption, workspace.id, secrets.botToken);
  return {
    ...target,
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Quayside-Webhooks/1',
      authorization: `Bearer ${token}`,
    },
    renderBody: renderMessage(reads, channel, bodyTemplate, deps.publicUrl),
    pace: {
      waitMs: ({ id }) => deps.pace.waitMs(place, id),
      refused: ({ id, createdAt }, retryAfterMs) =>
        Date.now() - Date.parse(createdAt) > PACED_MAX_MS ? undefined : deps.pace.refused(place, id, retryAfterMs),
    },
    judge: (outcome, delivery) =>
      judged(deps, { ...lane, workspaceId: workspace.id, botToken: secrets.botToken }, outcome, delivery),
  };
}

const notConnected = (teamId: string | null): string =>
  teamId === null ? 'No chat workspace is connected' : `The chat workspace ${teamId} is not connected`;

function renderMessage(
  reads: Reads,
  channel: string,
  bodyTemplate: string | null,
  publicUrl: string,
): (envelope: unknown) => Promise<string> {
  const template = bodyTemplate === null ? undefined : compileMessageTemplate(bodyTemplate);
  return async (envelope) => {
    const message = template ? template(envelope) : await messageAbout(reads, envelope as Envelope, publicUrl);
    const isDead = { unfurl_links: false, unfurl_media: false, link_names: false, parse: 'none' };
    return JSON.stringify({ channel, ...isDead, ...message });
  };
}

async function messageAbout(reads: Reads, { type, data }: Envelope, publicUrl: string): Promise<ChatMessage> {
  const approval = type.startsWith('approval.') ? await approvalOf(reads, data) : undefined;
  return approval ? approvalMessage(approval, publicUrl) : notification(type, data, publicUrl);
}

/**
 * The approval that an event is about. What people decide on is the row: clients can queue events of this name with any
 * data.
 */
async function approvalOf(reads: Reads, data: unknown): Promise<ShownApproval | undefined> {
  const { id, repositoryIdentifier = null } = (data ?? {}) as { id?: unknown; repositoryIdentifier?: unknown };
  if (typeof id !== 'string' || !isId(id)) return undefined;
  const approval = await shownApproval(reads, id);
  return approval?.repositoryIdentifier === repositoryIdentifier ? approval : undefined;
}

type ChatLaneOfWebhook = LaneKey & AskedWorkspace;

/** Slack answers 200 with `ok: false` to what it does not take. */
async function judged(
  deps: Deps,
  lane: ChatLaneOfWebhook,
  outcome: AttemptOutcome,
  delivery: ClaimedDelivery,
): Promise<AttemptOutcome> {
  if (outcome.statusCode !== 200) return outcome;
  const answer = readPostAnswer(outcome.responseBody ?? '');
  if (answer?.ok === true) {
    if (delivery.event === 'approval.requested') await keepMessage(deps, lane, answer, delivery);
    return outcome;
  }
  const failure: ChatFailure = answer?.ok === false ? refusedCall(answer.error, answer.needed) : MALFORMED;
  await noteVoidToken(deps, lane, failure);
  const verdict = isLimit(failure) ? 'limited' : failure.isTransient ? 'retried' : 'final';
  return { ...outcome, error: failure.reason, verdict };
}

/** Keeps where the message is, so that it can be changed; a message that is not kept stays as it is. */
async function keepMessage(
  { actingAs, reads, launch, log }: Deps,
  { tenantId, tenantSlug, workspaceId }: ChatLaneOfWebhook,
  { channel, ts }: PostAnswer,
  { id: deliveryId, payload }: ClaimedDelivery,
): Promise<void> {
  if (typeof channel !== 'string' || typeof ts !== 'string') return;
  const lane = { tenantId, tenantSlug, workspaceId };
  try {
    const approvalId = (await approvalOf(reads.as(systemActor(lane, 'chat')), JSON.parse(payload)))?.id;
    if (approvalId === undefined) return;
    const { isChanged } = await actingAs(systemActor(lane, 'chat'))((tx) =>
      insertApprovalMessage(tx, { workspaceId, approvalId, channel, ts }),
    );
    if (isChanged) await launch.signalWithStart(chatLaneContract, lane, actSignal);
  } catch (error) {
    log.warn({ err: error, deliveryId }, 'a message of a chat was not kept');
  }
}
