import { SaxesParser } from 'saxes';
import { PatternWorkError, usePatternWork } from '../../events/webhooks/pattern-work.ts';

/** Characters of a document that is compared. */
export const XML_TEXT_MAX = 200_000;
const LEVELS_MAX = 200;
/** Units of pattern work for a character, and for an element or attribute, whose namespace is looked for in all levels. */
const [CHARACTER_UNITS, NAME_UNITS] = [2, 80];
/** Units for a comparison of two siblings, and for a character of a text by which they are sorted. */
const [SORTED_UNITS, TEXT_UNITS] = [2, 0.2];

/**
 * Which order of elements within another does not count. `names`: of those with different names; `all`: also of those
 * with the same name and different texts. Beside text, each order counts.
 */
export const XML_ORDERS = ['names', 'all'] as const;
export type XmlOrder = (typeof XML_ORDERS)[number];

interface Child {
  /** The local name of an element, undefined of text. */
  local: string | undefined;
  canonical: string;
  /** All text in it, in the order of the document. */
  text: string;
}

/**
 * A text that is the same for documents which say the same: white space between elements, comments, the order of
 * attributes and prefixes do not count, nor an order that `anyOrder` names. Undefined for what is no XML, or too large.
 * DTDs are refused. Uses the work of patterns.
 */
export function canonicalXml(text: string, anyOrder?: XmlOrder): string | undefined {
  if (text.length > XML_TEXT_MAX || !/^\s*</.test(text)) return undefined;
  usePatternWork(CHARACTER_UNITS * text.length);
  const parser = new SaxesParser({ xmlns: true });
  const open: { local: string; start: string; children: Child[] }[] = [];
  let [top, pending] = [[] as Child[], ''];
  const children = () => open.at(-1)?.children ?? top;
  const flush = () => {
    const said = pending.trim();
    if (said !== '') children().push({ local: undefined, canonical: JSON.stringify(said), text: said });
    pending = '';
  };
  const nameOf = ({ uri, local }: { uri: string; local: string }) => JSON.stringify([uri, local]);
  parser.on('doctype', () => {
    throw new Error('a DTD is not read');
  });
  parser.on('text', (piece) => (pending += piece));
  parser.on('cdata', (piece) => (pending += piece));
  const useName = () => usePatternWork(NAME_UNITS + open.length);
  parser.on('opentagstart', useName);
  parser.on('attribute', useName);
  parser.on('opentag', (tag) => {
    if (open.length === LEVELS_MAX) throw new Error('it is nested too deeply');
    flush();
    const attributes = Object.values(tag.attributes)
      .filter(({ prefix, name }) => prefix !== 'xmlns' && name !== 'xmlns')
      .map((attribute) => `${nameOf(attribute)}=${JSON.stringify(attribute.value)}`);
    open.push({ local: tag.local, start: `<${nameOf(tag)} ${attributes.toSorted().join(' ')}>`, children: [] });
  });
  parser.on('closetag', () => {
    flush();
    const element = open.pop();
    if (element) children().push(closed(element, anyOrder));
  });
  parser.on('error', (error) => {
    throw error;
  });
  try {
    parser.write(text).close();
    return top.map(({ canonical }) => canonical).join('');
  } catch (error) {
    if (error instanceof PatternWorkError) throw error;
    return undefined;
  }
}

function closed(
  { local, start, children }: { local: string; start: string; children: Child[] },
  anyOrder: XmlOrder | undefined,
): Child {
  const sorted = anyOrder ? inOrder(children, anyOrder) : children;
  return {
    local,
    canonical: `${start}${sorted.map(({ canonical }) => canonical).join('')}</>`,
    text: anyOrder === 'all' ? children.map(({ text }) => text).join('') : '',
  };
}

function inOrder(children: readonly Child[], anyOrder: XmlOrder): readonly Child[] {
  if (children.length < 2 || children.some(({ local }) => local === undefined)) return children;
  const compare = (a: string | undefined = '', b: string | undefined = '') => (a < b ? -1 : Number(a > b));
  return children.toSorted((a, b) => {
    usePatternWork(SORTED_UNITS + TEXT_UNITS * Math.min(a.text.length, b.text.length));
    return compare(a.local, b.local) || (anyOrder === 'all' ? compare(a.text, b.text) : 0);
  });
}
