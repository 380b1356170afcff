import { insertApprovalMessage } from '../../domain/chat/chat-messages.queries.ts';
import { MALFORMED, refusedCall } from '../../domain/chat/chat-failure-rules.ts';
import type { ChatFailure } from '../../domain/chat/chat-platform.port.ts';
import { openChatSecret } from '../../domain/chat/chat-secrets.ts';
import { findWorkspace, secretsOfWorkspace } from '../../domain/chat/chat-workspaces.queries.ts';
import { escaped } from '../../domain/chat/message-rules.ts';
import { notification, templatedMessage } from '../../domain/chat/notification-rules.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { isId } from '../../domain/shared/ids.ts';
import { compileTemplate, type RenderBody, TemplateError } from '../../domain/webhooks/body-template.ts';
import type { Envelope } from '../../domain/webhooks/event-catalog.ts';
import type { ClaimedDelivery, LaneKey } from '../../domain/webhooks/lane-store.queries.ts';
import type { AttemptOutcome } from '../../domain/webhooks/webhook-sender.port.ts';
import { actSignal, chatLaneContract } from '../../workflows/chat/chat-lane.contract.ts';
import type { Deps } from '../deps.ts';
import type { LaneTarget } from '../webhooks/lane-target.ts';

interface ChatSettings {
  channel: string;
  chatTeamId: string | null;
  bodyTemplate: string | null;
}

/** Of the message in one request; the text of a value that was inserted is longer by its entities. */
const INSERTED_MAX = 20_000;

/** A webhook that posts to a channel: its message for each event, sent with the token of the workspace. */
export async function openChatTarget(
  deps: Deps,
  lane: LaneKey,
  target: LaneTarget,
  { channel, chatTeamId, bodyTemplate }: ChatSettings,
): Promise<LaneTarget> {
  const reads = deps.reads.as(systemActor(lane, 'chat'));
  const workspace = await findWorkspace(reads, chatTeamId ?? undefined);
  const secrets = workspace?.isActive ? await secretsOfWorkspace(reads, workspace.id) : undefined;
  const url = new URL('chat.postMessage', deps.chat.apiUrl).href;
  if (!workspace || !secrets) return { ...target, url, refusal: notConnected(chatTeamId) };
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
    renderBody: renderMessage(channel, bodyTemplate, deps.publicUrl),
    judge: (outcome, delivery) => judged(deps, { ...lane, workspaceId: workspace.id }, outcome, delivery),
  };
}

const notConnected = (teamId: string | null): string =>
  teamId === null ? 'No chat workspace is connected' : `The chat workspace ${teamId} is not connected`;

function renderMessage(channel: string, bodyTemplate: string | null, publicUrl: string): RenderBody {
  const template =
    bodyTemplate === null ? undefined : compileTemplate(bodyTemplate, (value) => escaped(value, INSERTED_MAX));
  return (envelope) => {
    const { type, data } = envelope as Envelope;
    const message = template ? templatedMessage(template(envelope)) : notification(type, data, publicUrl);
    if (typeof message === 'string') throw new TemplateError(message);
    return JSON.stringify({ channel, unfurl_links: false, unfurl_media: false, ...message });
  };
}

type ChatLaneOfWebhook = LaneKey & { workspaceId: string };

/** Slack answers 200 with `ok: false` to what it does not take. */
async function judged(
  deps: Deps,
  lane: ChatLaneOfWebhook,
  outcome: AttemptOutcome,
  delivery: ClaimedDelivery,
): Promise<AttemptOutcome> {
  if (outcome.statusCode !== 200) return outcome;
  const answer = parsed(outcome.responseBody);
  if (answer?.ok === true) {
    if (delivery.event === 'approval.requested') await keepMessage(deps, lane, answer, delivery);
    return outcome;
  }
  const { reason, isTransient }: ChatFailure =
    answer?.ok === false ? refusedCall(answer.error, answer.needed) : MALFORMED;
  return { ...outcome, error: reason, verdict: isTransient ? 'retried' : 'final' };
}

type Answer = Record<string, unknown>;

function parsed(body: string | undefined): Answer | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps where the message is, so that it can be changed; a message that is not kept stays as it is. */
async function keepMessage(
  { actingAs, launch, log }: Deps,
  { tenantId, tenantSlug, workspaceId }: ChatLaneOfWebhook,
  { channel, ts }: Answer,
  { id: deliveryId, payload }: ClaimedDelivery,
): Promise<void> {
  const { id: approvalId } = JSON.parse(payload) as { id?: unknown };
  if (typeof channel !== 'string' || typeof ts !== 'string' || typeof approvalId !== 'string' || !isId(approvalId))
    return;
  const lane = { tenantId, tenantSlug, workspaceId };
  try {
    const isChanged = await actingAs(systemActor(lane, 'chat'))((tx) =>
      insertApprovalMessage(tx, { workspaceId, approvalId, channel, ts }),
    );
    if (isChanged) await launch.signalWithStart(chatLaneContract, lane, actSignal);
  } catch (error) {
    log.warn({ err: error, deliveryId }, 'a message of a chat was not kept');
  }
}
