import type { Json } from '../../support/client.ts';

/** Kinds of nodes, and which ones each may hold: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ */
const HOLDS: Record<string, readonly string[]> = {
  doc: [
    'paragraph',
    'heading',
    'codeBlock',
    'bulletList',
    'orderedList',
    'expand',
    'rule',
    'blockquote',
    'panel',
    'table',
  ],
  paragraph: ['text', 'hardBreak', 'mention', 'emoji', 'inlineCard', 'date', 'status'],
  heading: ['text', 'hardBreak'],
  codeBlock: ['text'],
  expand: ['paragraph', 'heading', 'codeBlock', 'bulletList', 'orderedList', 'rule'],
  blockquote: ['paragraph'],
  panel: ['paragraph', 'heading', 'bulletList', 'orderedList'],
  bulletList: ['listItem'],
  orderedList: ['listItem'],
  listItem: ['paragraph', 'bulletList', 'orderedList', 'codeBlock'],
  table: ['tableRow'],
  tableRow: ['tableHeader', 'tableCell'],
  tableHeader: ['paragraph'],
  tableCell: ['paragraph'],
};

/** Whether Jira takes a document: kinds of nodes, where they may stand, and no empty text. */
export const isDocument = (value: Json): boolean => value?.type === 'doc' && value.version === 1 && isValid(value);

function isValid(node: Json): boolean {
  if (node.type === 'text') return typeof node.text === 'string' && node.text !== '';
  const holds = HOLDS[node.type];
  if (!holds) return node.content === undefined;
  const content = node.content ?? [];
  return Array.isArray(content) && content.every((child: Json) => holds.includes(child?.type) && isValid(child));
}
