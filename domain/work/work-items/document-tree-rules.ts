/** A node of an Atlassian document: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ */
export interface DocumentNode {
  type: string;
  attrs?: Record<string, unknown>;
  content?: DocumentNode[];
  text?: string;
  marks?: { type: string; attrs?: Record<string, unknown> }[];
}
export interface TextDocument extends DocumentNode {
  type: 'doc';
  version: 1;
  content: DocumentNode[];
}

/** A document has no empty text nodes. */
const textNodes = (text: string): DocumentNode[] => (text === '' ? [] : [{ type: 'text', text }]);

/** A paragraph; line breaks stay line breaks. */
const paragraph = (text: string): DocumentNode => ({
  type: 'paragraph',
  content: text
    .split(/\r?\n/)
    .flatMap((line, index) => [...(index === 0 ? [] : [{ type: 'hardBreak' }]), ...textNodes(line)]),
});

/** Plain text as a document: paragraphs are parted by empty lines. */
export const documentOf = (text: string): TextDocument => ({
  type: 'doc',
  version: 1,
  content: text
    .split(/(?:\r?\n){2,}/)
    .filter((part) => part !== '')
    .map(paragraph),
});

/** Text of a person, with something to unfold below it that holds code. */
export function documentWithCode(text: string, { title, code }: { title: string; code: string }): TextDocument {
  const document = documentOf(text);
  const block = { type: 'codeBlock', attrs: { language: 'json' }, content: textNodes(code) };
  return { ...document, content: [...document.content, { type: 'expand', attrs: { title }, content: [block] }] };
}

/** Lines and links below each other. */
export function documentOfLines(
  lines: readonly string[],
  links: readonly { text: string; url: string }[],
): TextDocument {
  const linked = links.map(({ text, url }): DocumentNode => {
    const marks = [{ type: 'link', attrs: { href: url } }];
    return { type: 'paragraph', content: [{ type: 'text', text, marks }] };
  });
  return { type: 'doc', version: 1, content: [...lines.map(paragraph), ...linked] };
}

/** Deeper nodes are left out: the vendor's own editor nests less. */
const DEPTH_MAX = 100;

const BLOCKS = new Set([
  'paragraph',
  'heading',
  'codeBlock',
  'blockquote',
  'panel',
  'expand',
  'nestedExpand',
  'bulletList',
  'orderedList',
  'taskList',
  'decisionList',
  'table',
  'mediaSingle',
  'rule',
]);

const isNode = (value: unknown): value is DocumentNode =>
  typeof value === 'object' && value !== null && typeof (value as DocumentNode).type === 'string';

const childrenOf = ({ content }: DocumentNode): DocumentNode[] =>
  Array.isArray(content) ? content.filter((child) => isNode(child)) : [];

const attribute = ({ attrs }: DocumentNode, ...names: string[]): string => {
  for (const name of names) {
    const value = attrs?.[name];
    if (typeof value === 'string') return value;
  }
  return '';
};

/** The plain text of a document, or of a part of one; a text stays as it is, and '' for anything else. */
export function plainTextOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isNode(value)
    ? textOfNode(value, 0)
        .replaceAll(/\n{3,}/g, '\n\n')
        .trim()
    : '';
}

function textOfNode(node: DocumentNode, depth: number): string {
  if (depth > DEPTH_MAX) return '';
  const inner = () => joined(childrenOf(node), depth + 1);
  switch (node.type) {
    case 'text':
      return typeof node.text === 'string' ? node.text : '';
    case 'hardBreak':
      return '\n';
    case 'mention':
    case 'status':
      return attribute(node, 'text');
    case 'emoji':
      return attribute(node, 'text', 'shortName');
    case 'inlineCard':
    case 'blockCard':
    case 'embedCard':
      return attribute(node, 'url');
    case 'date':
      return dayOf(attribute(node, 'timestamp'));
    case 'rule':
      return '---';
    case 'expand':
    case 'nestedExpand':
      return [attribute(node, 'title'), inner()].filter((part) => part !== '').join('\n');
    case 'bulletList':
    case 'taskList':
    case 'decisionList':
      return items(node, depth, () => '- ');
    case 'orderedList':
      return items(node, depth, (index) => `${index + 1}. `);
    case 'table':
      return childrenOf(node)
        .map((row) =>
          childrenOf(row)
            .map((cell) => textOfNode(cell, depth + 2).replaceAll('\n', ' '))
            .join(' | '),
        )
        .join('\n');
    default:
      return inner();
  }
}

/** Blocks are parted by an empty line, what flows in a line by nothing. */
function joined(nodes: readonly DocumentNode[], depth: number): string {
  let text = '';
  for (const node of nodes) {
    const part = textOfNode(node, depth);
    text += text !== '' && BLOCKS.has(node.type) ? `\n\n${part}` : part;
  }
  return text;
}

const items = (list: DocumentNode, depth: number, sign: (index: number) => string): string =>
  childrenOf(list)
    .map((item, index) => sign(index) + textOfNode(item, depth + 1).replaceAll('\n\n', '\n'))
    .join('\n');

/** Milliseconds since the epoch as a day. */
function dayOf(timestamp: string): string {
  const day = new Date(Number(timestamp));
  return timestamp === '' || Number.isNaN(day.getTime()) ? timestamp : day.toISOString().slice(0, 10);
}
