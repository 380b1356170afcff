/** Limits of messages and blocks as Slack publishes them; that of all text together was found by trying. */
const LIMITS = {
  blocks: 50,
  text: 40_000,
  header: 150,
  section: 3_000,
  fields: 10,
  field: 2_000,
  context: 10,
  actions: 25,
  buttonText: 75,
  buttonValue: 2_000,
  actionId: 255,
  url: 3_000,
  together: 10_000,
};

type Part = Record<string, unknown>;

export interface Button {
  actionId: string;
  value: string;
  text: string;
}

const partsOf = (value: unknown): Part[] =>
  Array.isArray(value) ? value.filter((part): part is Part => typeof part === 'object' && part !== null) : [];

/** A text, or nothing. */
export const plain = (value: unknown): string => (typeof value === 'string' ? value : '');

const isWithin = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= max;

const textOf = (value: unknown): string => {
  const { text } = (value ?? {}) as Part;
  return typeof text === 'string' ? text : '';
};

const isText = (value: unknown, max: number, types = ['plain_text', 'mrkdwn']): boolean =>
  types.includes(String((value as Part | undefined)?.type)) && isWithin(textOf(value), max);

function isElement(element: Part): boolean {
  if (element.type !== 'button') return false;
  return (
    isText(element.text, LIMITS.buttonText, ['plain_text']) &&
    (element.action_id === undefined || isWithin(element.action_id, LIMITS.actionId)) &&
    (element.value === undefined || isWithin(element.value, LIMITS.buttonValue)) &&
    (element.url === undefined || isWithin(element.url, LIMITS.url)) &&
    (element.style === undefined || ['primary', 'danger'].includes(plain(element.style)))
  );
}

function isBlock(block: Part): boolean {
  const elements = partsOf(block.elements);
  switch (block.type) {
    case 'divider':
      return true;
    case 'header':
      return isText(block.text, LIMITS.header, ['plain_text']);
    case 'section': {
      const fields = partsOf(block.fields);
      const hasText = block.text !== undefined;
      return (
        (hasText || fields.length > 0) &&
        (!hasText || isText(block.text, LIMITS.section)) &&
        fields.length <= LIMITS.fields &&
        fields.every((field) => isText(field, LIMITS.field)) &&
        (block.accessory === undefined || isElement(block.accessory as Part))
      );
    }
    case 'context':
      return elements.length > 0 && elements.length <= LIMITS.context && elements.every((each) => isText(each, 3_000));
    case 'actions':
      return elements.length > 0 && elements.length <= LIMITS.actions && elements.every(isElement);
    default:
      return false;
  }
}

interface ShownText {
  text: string;
  /** Mentions and links that are written as such. */
  isLive: boolean;
  /** Names and addresses are found in it as well. */
  isSearched: boolean;
}

/** Every text of blocks, with what in it is alive. */
export function textsOf(blocks: readonly Part[]): ShownText[] {
  return blocks.flatMap((block) =>
    [block.text, ...partsOf(block.fields), ...partsOf(block.elements).map((each) => each.text ?? each)]
      .map((part) => (typeof part === 'string' ? { text: part } : part))
      .filter((part) => typeof part === 'object' && part !== null)
      .map((part) => {
        const { type, verbatim } = part as Part;
        const isLive = type !== 'plain_text';
        return { text: textOf(part), isLive, isSearched: isLive && verbatim !== true };
      }),
  );
}

export const buttonsOf = (blocks: readonly Part[]): Button[] =>
  blocks
    .flatMap((block) => [...partsOf(block.elements), ...(block.accessory ? [block.accessory as Part] : [])])
    .filter(({ type, action_id }) => type === 'button' && action_id !== undefined)
    .map(({ action_id, value, text }) => ({
      actionId: plain(action_id),
      value: plain(value),
      text: textOf(text),
    }));

/** Whom a message notifies or links to: what of it is not dead text. */
export function mentionsOf(text: string, blocks: readonly Part[]): string[] {
  const texts = [{ text, isLive: true, isSearched: false }, ...textsOf(blocks)];
  return texts.flatMap((each) => [
    ...(each.isLive ? found(each.text, /<([!@#][^>]*)>/g) : []),
    ...(each.isSearched ? found(each.text, /(?<![\w<])([@#]\w+)/g) : []),
  ]);
}

const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, mention = '']) => mention);

/** Slack's word for what is wrong with a message, if anything is. */
export function messageProblem(text: unknown, blocks: unknown): string | undefined {
  if (text !== undefined && typeof text !== 'string') return 'invalid_arguments';
  if ((text ?? '') === '' && blocks === undefined) return 'no_text';
  if ((text ?? '').length > LIMITS.text) return 'msg_too_long';
  if (blocks === undefined) return undefined;
  const parts = partsOf(blocks);
  if (!Array.isArray(blocks) || parts.length !== blocks.length) return 'invalid_blocks_format';
  if (parts.length > LIMITS.blocks || !parts.every(isBlock)) return 'invalid_blocks';
  const ids = buttonsOf(parts).map(({ actionId }) => actionId);
  // They must be unique within a block alone; two of one name in a message are a mistake here all the same.
  if (parts.some((block) => hasTwice(partsOf(block.elements).map(({ action_id }) => String(action_id)))))
    return 'invalid_blocks';
  if (ids.length > LIMITS.actions * LIMITS.blocks) return 'invalid_blocks';
  const length = textsOf(parts).reduce((sum, each) => sum + each.text.length, 0);
  return length > LIMITS.together ? 'msg_blocks_too_long' : undefined;
}

const hasTwice = (names: readonly string[]): boolean => new Set(names).size < names.length;
