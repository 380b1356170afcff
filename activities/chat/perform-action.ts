import { type SendDecision, takeDecision } from '../../domain/approvals/decisions.ts';
import { subjectOf } from '../../domain/chat/approval-message-rules.ts';
import type { ClaimedAction } from '../../domain/chat/chat-actions.queries.ts';
import { answerCommand, type CommandParts } from '../../domain/chat/chat-commands.ts';
import type { ChatTeam, FindChatPerson } from '../../domain/chat/chat-people.ts';
import type { ChatFailure, ChatPlatform } from '../../domain/chat/chat-platform.port.ts';
import { APPROVE_ACTION, type ChatActionContent } from '../../domain/chat/inbound-rules.ts';
import { type ChatMessage, sentence } from '../../domain/chat/message-rules.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { isId } from '../../domain/shared/ids.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';

export interface ActionParts extends CommandParts {
  platform: ChatPlatform;
  findPerson: FindChatPerson;
  sendDecision: SendDecision;
  actingAs: (actor: Actor, context: { requestId: string }) => UnitOfWork;
}

type Asked = Exclude<ChatActionContent, { kind: 'disconnect' }>;

const NOBODY = sentence(
  'Nobody in Quayside has the e-mail address of your Slack account. Sign in to Quayside with it, or have it added as one of your addresses.',
);

/**
 * Does what somebody asked for in a chat, with that person's rights, and answers privately. Repeating it is safe. The
 * failure of the platform, if it failed.
 */
export async function performAction(
  parts: ActionParts,
  team: ChatTeam,
  { id, responseUrl }: Pick<ClaimedAction, 'id' | 'responseUrl'>,
  asked: Asked,
): Promise<ChatFailure | undefined> {
  const person = await parts.findPerson(team, asked.chatUserId);
  if (!person.isOk) return person;
  const answer = person.value === null ? NOBODY : await answerTo(parts, person.value, id, asked);
  if (answer === undefined || responseUrl === null) return undefined;
  const sent = await parts.platform.respond(responseUrl, answer);
  return sent.isOk ? undefined : sent;
}

/** What the person gets to read; undefined: the message that everybody sees says it. */
async function answerTo(
  parts: ActionParts,
  person: Actor,
  actionId: string,
  asked: Asked,
): Promise<ChatMessage | undefined> {
  const tx = parts.actingAs(person, { requestId: actionId });
  try {
    if (asked.kind === 'command') return await answerCommand(parts, tx, asked.text);
    return await decide(parts, tx, person, actionId, asked);
  } catch (error) {
    if (error instanceof DomainError && error.code !== 'unavailable') return sentence(`${error.message}.`);
    throw error;
  }
}

async function decide(
  { sendDecision }: ActionParts,
  tx: UnitOfWork,
  person: Actor,
  requestId: string,
  { actionId, value, isPrivate }: Extract<Asked, { kind: 'click' }>,
): Promise<ChatMessage | undefined> {
  // As the roles of the route say.
  if (person.role === 'application') throw new DomainError('forbidden', 'Only owners and members may decide');
  if (!isId(value)) throw new DomainError('not_found', 'The approval is not known');
  const decision = actionId === APPROVE_ACTION ? 'approve' : 'reject';
  const made = { decision, comment: null, by: person, requestId, traceparent: undefined, via: 'slack' } as const;
  const approval = await takeDecision(tx, sendDecision, value, made);
  return isPrivate
    ? sentence(
        `You ${decision === 'approve' ? 'approved' : 'rejected'} ${subjectOf(approval)}. It is ${approval.status}.`,
      )
    : undefined;
}
