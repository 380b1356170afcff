import {
  insertedText,
  TemplateError,
  type TemplatePiece,
  templatePieces,
  valueAt,
} from '../../events/webhooks/body-template.ts';
import { isDecision } from './inbound-rules.ts';
import { cutMarkdown, escaped, section } from './message-rules.ts';

/** What a template makes of an event: members of a message as the platform takes them. */
export interface TemplatedMessage {
  text?: unknown;
  blocks?: unknown;
}

/** Most characters of one inserted value; its entities make it longer. */
const INSERTED_MAX = 20_000;
const TEXT_MAX = 12_000;
/** A section holds no more. */
const SECTION_MAX = 3_000;

/**
 * Compiles the template of a message: its text in Slack's markup or, where the template begins with `{`, a JSON object
 * with `text` and `blocks`. Values of events are text, whatever they hold: they can end no string of the JSON, add no
 * member, and mention nobody. Throws `TemplateError`, as rendering does for what is no message.
 */
export function compileMessageTemplate(template: string): (envelope: unknown) => TemplatedMessage {
  const pieces = templatePieces(template);
  const [first] = pieces;
  const isJson = first !== undefined && 'text' in first && first.text.trimStart().startsWith('{');
  return isJson ? (envelope) => objectOf(pieces, envelope) : (envelope) => textOf(pieces, envelope);
}

function textOf(pieces: readonly TemplatePiece[], envelope: unknown): TemplatedMessage {
  const written = pieces.map((piece) => ('text' in piece ? piece.text : textAt(piece, envelope))).join('');
  if (written.trim() === '') throw new TemplateError('the text of the message is empty');
  const text = cutMarkdown(written, TEXT_MAX);
  return { text, ...(text.length <= SECTION_MAX && { blocks: [section(text)] }) };
}

type Place = Exclude<TemplatePiece, { text: string }>;

const textAt = ({ segments, asJson }: Place, envelope: unknown): string =>
  escaped(insertedText(valueAt(envelope, segments), asJson), INSERTED_MAX);

function objectOf(pieces: readonly TemplatePiece[], envelope: unknown): TemplatedMessage {
  let json = '';
  let isInString = false;
  for (const piece of pieces) {
    if ('text' in piece) {
      json += piece.text;
      isInString = endsInString(piece.text, isInString);
    } else {
      json += isInString ? JSON.stringify(textAt(piece, envelope)).slice(1, -1) : literalAt(piece, envelope);
    }
  }
  let object: TemplatedMessage;
  try {
    object = JSON.parse(json, hardened) as TemplatedMessage;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError('it begins like JSON, but is none');
  }
  const { text, blocks } = object;
  if (text === undefined && blocks === undefined) throw new TemplateError('the object has neither text nor blocks');
  return { text, blocks };
}

/** A value outside of strings: numbers and truth values as they are, all others as one string. */
function literalAt({ segments }: Place, envelope: unknown): string {
  const value = valueAt(envelope, segments);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  return JSON.stringify(escaped(insertedText(value, false), INSERTED_MAX));
}

/** Whether a part of JSON that begins inside or outside of a string ends inside of one. */
function endsInString(json: string, isInString: boolean): boolean {
  let isInside = isInString;
  for (const [found] of json.matchAll(/\\.|"/gs)) if (found === '"') isInside = !isInside;
  return isInside;
}

/** Names in texts are no mentions, and buttons that decide are made of approvals alone. */
function hardened(name: string, value: unknown): unknown {
  if (name === 'action_id' && typeof value === 'string' && isDecision(value))
    throw new TemplateError(`the action ${value} is kept for messages about approvals`);
  const isMarkup = typeof value === 'object' && value !== null && 'type' in value && value.type === 'mrkdwn';
  return isMarkup ? { ...value, verbatim: true } : value;
}
