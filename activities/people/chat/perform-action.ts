import { type SendDecision, takeDecision } from '../../../domain/delivery/approvals/decisions.ts';
import { subjectOf } from '../../../domain/people/chat/approval-message-rules.ts';
import type { ClaimedAction } from '../../../domain/people/chat/chat-actions.queries.ts';
import { answerCommand, type CommandParts } from '../../../domain/people/chat/chat-commands.ts';
import { insertApprovalMessage } from '../../../domain/people/chat/chat-messages.queries.ts';
import type { ChatTeam, FindChatPerson } from '../../../domain/people/chat/chat-people.ts';
import type { ChatFailure, ChatPlatform } from '../../../domain/people/chat/chat-platform.port.ts';
import { APPROVE_ACTION, type ChatActionContent } from '../../../domain/people/chat/inbound-rules.ts';
import { type ChatMessage, sentence } from '../../../domain/people/chat/message-rules.ts';
import { type Actor, systemActor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { isId } from '../../../domain/kernel/shared/ids.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';

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

const INVITED = sentence(
  'You were added to Quayside, and your invitation is not accepted yet. Accept it, by the link that you were sent or as you sign in, and try again.',
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
  // The message that everybody sees shows what was decided, if it is known to be one.
  const isShown = asked.kind === 'click' && (await keepPlace(parts, team, id, asked));
  const { value } = person;
  const answer =
    value === null ? NOBODY : value === 'invited' ? INVITED : await answerTo(parts, value, id, asked, isShown);
  if (answer === undefined || responseUrl === null) return undefined;
  const sent = await parts.platform.respond(responseUrl, answer);
  // A decision is made whether or not its answer can be given.
  return sent.isOk || (asked.kind === 'click' && !sent.isTransient) ? undefined : sent;
}

/** What somebody gets to read whose command or click is given up; that cannot be given is no further failure. */
export async function answerGivenUp(
  platform: Pick<ChatPlatform, 'respond'>,
  responseUrl: string | null,
  asked: Asked,
): Promise<void> {
  if (responseUrl === null) return;
  const what = asked.kind === 'click' ? 'Your decision was not recorded' : 'Your command was not executed';
  await platform.respond(responseUrl, sentence(`${what}: Quayside had trouble for too long. Please try again.`));
}

/**
 * A message whose place was lost after it was sent is known again by a click on it, so that it is changed. True for one
 * that was known before.
 */
async function keepPlace(
  { actingAs }: ActionParts,
  { lane }: ChatTeam,
  requestId: string,
  { value: approvalId, place }: Extract<Asked, { kind: 'click' }>,
): Promise<boolean> {
  if (!place || !isId(approvalId)) return false;
  const { workspaceId } = lane;
  const { isNew } = await actingAs(systemActor(lane, 'chat'), { requestId })((tx) =>
    insertApprovalMessage(tx, { workspaceId, approvalId, ...place }),
  );
  return !isNew;
}

/** What the person gets to read; undefined: the message that everybody sees says it. */
async function answerTo(
  parts: ActionParts,
  person: Actor,
  actionId: string,
  asked: Asked,
  isShown: boolean,
): Promise<ChatMessage | undefined> {
  const tx = parts.actingAs(person, { requestId: actionId });
  try {
    if (asked.kind === 'command') return await answerCommand(parts, tx, asked.text);
    const decided = await decide(parts, tx, person, actionId, asked);
    return isShown ? undefined : decided;
  } catch (error) {
    if (error instanceof DomainError && error.code !== 'unavailable')
      return sentence(error.message.replace(/[^.!?]$/, '$&.'));
    throw error;
  }
}

async function decide(
  { sendDecision }: ActionParts,
  tx: UnitOfWork,
  person: Actor,
  requestId: string,
  { actionId, value }: Extract<Asked, { kind: 'click' }>,
): Promise<ChatMessage> {
  // As the roles of the route say.
  if (person.role === 'application') throw new DomainError('forbidden', 'Only owners and members may decide');
  if (!isId(value)) throw new DomainError('not_found', 'The approval is not known');
  const decision = actionId === APPROVE_ACTION ? 'approve' : 'reject';
  const made = { decision, comment: null, by: person, requestId, traceparent: undefined, via: 'slack' } as const;
  const approval = await takeDecision(tx, sendDecision, value, made);
  const did = decision === 'approve' ? 'approved' : 'rejected';
  return sentence(`You ${did} ${subjectOf(approval)}. It is ${approval.status}.`);
}
