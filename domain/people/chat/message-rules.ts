/** Limits of messages as Slack publishes them. That of all text together is not published: 9,600 characters passed. */
const LIMITS = {
  blocks: 50,
  header: 150,
  section: 3_000,
  context: 2_000,
  field: 2_000,
  buttonText: 75,
  together: 9_000,
};

interface PlainText {
  type: 'plain_text';
  text: string;
}
interface Markdown {
  type: 'mrkdwn';
  text: string;
  /** Addresses, `#names` and `@names` in the text stay text; without this the platform makes links of them. */
  verbatim: true;
}

const markdown = (text: string): Markdown => ({ type: 'mrkdwn', text, verbatim: true });

export interface ChatButton {
  type: 'button';
  text: PlainText;
  action_id: string;
  value?: string;
  url?: string;
  style?: 'primary' | 'danger';
}

export type ChatBlock =
  | { type: 'header'; text: PlainText }
  | { type: 'section'; text?: Markdown; fields?: Markdown[] }
  | { type: 'context'; elements: Markdown[] }
  | { type: 'actions'; elements: ChatButton[] };

/** A message: `text` is what notifications show, and what shows where blocks do not. */
export interface ChatMessage {
  text: string;
  blocks: ChatBlock[];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * A text of data in a message, with at most `max` characters: mentions and links in it are dead.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function escaped(text: string, max = 500): string {
  let result = '';
  for (const character of text) {
    const next = ENTITIES[character] ?? character;
    if (result.length + next.length > max - 1) return `${result}…`;
    result += next;
  }
  return result;
}

/** The part of a text that is escaped already which fits: no entity, link or pair of surrogates is cut. */
export function cutMarkdown(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - 1);
  return `${kept.replace(/(?:&[a-z]{0,4}|<[^>]*|[\ud800-\udbff])$/, '')}…`;
}

/** A link; the label is data. */
export const link = (url: string, label: string): string => `<${url}|${escaped(label, 200).replaceAll('|', '¦')}>`;

export const header = (text: string): ChatBlock => ({
  type: 'header',
  text: { type: 'plain_text', text: escaped(text, LIMITS.header) },
});

/** @param text Slack's markup, in which data is escaped. */
export const section = (text: string): ChatBlock => ({
  type: 'section',
  text: markdown(cutMarkdown(text, LIMITS.section)),
});

const FACT_MAX = 300;

type Facts = Readonly<Record<string, string | null | undefined>>;

/** Whether a message with this title and these facts shows less than there is. */
export const isShortened = (title: string, values: Facts): boolean =>
  escaped(title, LIMITS.header).endsWith('…') ||
  Object.values(values).some((value) => value && escaped(value, FACT_MAX).length < escaped(value, Infinity).length);

/** Names with values, which are data; those without a value are left out. @param links facts that are Slack's markup. */
export const facts = (values: Facts, links: Readonly<Record<string, string>> = {}): ChatBlock[] => {
  const shown = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, escaped(value, FACT_MAX)] as const],
  );
  const fields = [...shown, ...Object.entries(links)].map(([name, text]) => markdown(`*${name}*\n${text}`));
  return fields.length === 0 ? [] : [{ type: 'section', fields: fields.slice(0, 10) }];
};

export const context = (text: string): ChatBlock => ({
  type: 'context',
  elements: [markdown(cutMarkdown(text, LIMITS.context))],
});

export const button = (label: string, more: Omit<ChatButton, 'type' | 'text'>): ChatButton => ({
  type: 'button',
  text: { type: 'plain_text', text: escaped(label, LIMITS.buttonText) },
  ...more,
});

export const actions = (...elements: ChatButton[]): ChatBlock => ({ type: 'actions', elements });

const lengthOf = (block: ChatBlock): number => {
  switch (block.type) {
    case 'header':
      return block.text.text.length;
    case 'section':
      return (block.text?.text.length ?? 0) + (block.fields ?? []).reduce((sum, { text }) => sum + text.length, 0);
    case 'context':
      return block.elements.reduce((sum, { text }) => sum + text.length, 0);
    case 'actions':
      return block.elements.reduce((sum, { text }) => sum + text.text.length, 0);
  }
};

/**
 * A message within the limits: blocks that do not fit are left out, and `rest` says where they are to be seen.
 * @param ending blocks that are shown whatever is left out.
 */
export function message(
  text: string,
  blocks: readonly ChatBlock[],
  ending: readonly ChatBlock[],
  rest: string,
): ChatMessage {
  const more = context(rest);
  let left = LIMITS.together - [...ending, more].reduce((sum, block) => sum + lengthOf(block), 0);
  const kept: ChatBlock[] = [];
  for (const block of blocks) {
    left -= lengthOf(block);
    if (left < 0 || kept.length + ending.length + 1 >= LIMITS.blocks) break;
    kept.push(block);
  }
  const isCut = kept.length < blocks.length;
  return { text: cutMarkdown(text, LIMITS.section), blocks: [...kept, ...(isCut ? [more] : []), ...ending] };
}

/** A message of one sentence, which is plain text. */
export const sentence = (text: string): ChatMessage => {
  const shown = escaped(text, LIMITS.section);
  return { text: shown, blocks: [section(shown)] };
};
