/** A part of a recorded selector, by what it looks for. */
export type SelectorPart =
  | { kind: 'css' | 'xpath' | 'text'; value: string }
  | { kind: 'aria'; name: string | undefined; role: string | undefined };

/** Roles by which elements are looked for that only their accessible name is known of (WAI-ARIA 1.2, without structure). */
export const NAMED_ROLES = [
  'button',
  'link',
  'textbox',
  'combobox',
  'checkbox',
  'radio',
  'tab',
  'option',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'switch',
  'searchbox',
  'spinbutton',
  'slider',
  'listbox',
  'heading',
  'img',
  'cell',
  'gridcell',
  'columnheader',
  'rowheader',
  'row',
  'treeitem',
  'dialog',
  'alertdialog',
  'region',
  'article',
  'navigation',
  'banner',
  'main',
  'form',
  'search',
  'menu',
  'menubar',
  'tablist',
  'tabpanel',
  'table',
  'grid',
  'tree',
  'treegrid',
  'toolbar',
  'group',
  'radiogroup',
  'list',
  'listitem',
  'figure',
  'progressbar',
  'meter',
  'status',
  'alert',
  'tooltip',
] as const;

/** Further roles that a selector may name. */
const OTHER_ROLES = ['application', 'code', 'complementary', 'contentinfo', 'definition', 'document', 'feed', 'log'];
const OTHERS = ['marquee', 'math', 'note', 'paragraph', 'rowgroup', 'scrollbar', 'separator', 'term', 'time', 'timer'];
const ROLES: ReadonlySet<string> = new Set([...NAMED_ROLES, ...OTHER_ROLES, ...OTHERS, 'blockquote', 'caption']);

const ATTRIBUTE = /\[\s*([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')\s*\]/g;

/**
 * Reads a part of a selector as the Recorder writes it: `aria/Save[role="button"]`, `xpath///a`, `text/Save`, `pierce/a`, or
 * CSS. Answers in words what is wrong with it.
 */
export function readSelectorPart(part: string): SelectorPart | string {
  const [, prefix, rest = ''] = /^(aria|xpath|text|pierce)\/([\s\S]*)$/.exec(part) ?? [];
  if (prefix === 'aria') return readAria(rest);
  const value = prefix === undefined ? part : rest;
  if (value.trim() === '') return 'is empty';
  if (prefix === 'text') return { kind: 'text', value };
  // Words of players, which the Recorder does not write.
  if (value.includes('>>') || value.includes('::-p-')) return 'has `>>` or `::-p-`, which are not played';
  return { kind: prefix === 'xpath' ? 'xpath' : 'css', value };
}

function readAria(text: string): SelectorPart | string {
  let name: string | undefined;
  let role: string | undefined;
  let wrong: string | undefined;
  const rest = text.replaceAll(ATTRIBUTE, (_, attribute: string, double?: string, single?: string) => {
    const value = double ?? single ?? '';
    if (attribute === 'name') name = value;
    else if (attribute === 'role') role = value;
    else wrong ??= `has the attribute ${attribute}, which is not played`;
    return '';
  });
  if (wrong !== undefined) return wrong;
  name ??= rest.trim() === '' ? undefined : rest.trim();
  if (name === undefined && role === undefined) return 'is empty';
  if (role !== undefined && !ROLES.has(role)) return `has the role ${role}, which is none of WAI-ARIA`;
  return { kind: 'aria', name, role };
}
