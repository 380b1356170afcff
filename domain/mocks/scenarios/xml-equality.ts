import { SaxesParser } from 'saxes';
import { PatternWorkError, usePatternWork } from '../../events/webhooks/pattern-work.ts';

/** Characters of a document that is compared. */
export const XML_TEXT_MAX = 200_000;
const LEVELS_MAX = 200;
/** Units of pattern work for a character, and for an element or attribute, whose namespace is looked for in all levels. */
const [CHARACTER_UNITS, NAME_UNITS] = [2, 80];

/**
 * A text that is the same for documents which say the same: white space between elements, comments, the order of
 * attributes and prefixes do not count. Undefined for what is no XML, or too large. DTDs are refused. Uses the work of
 * patterns.
 */
export function canonicalXml(text: string): string | undefined {
  if (text.length > XML_TEXT_MAX || !/^\s*</.test(text)) return undefined;
  usePatternWork(CHARACTER_UNITS * text.length);
  const parts: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  let [pending, level] = ['', 0];
  const flush = () => {
    if (pending.trim() !== '') parts.push(JSON.stringify(pending.trim()));
    pending = '';
  };
  const nameOf = ({ uri, local }: { uri: string; local: string }) => JSON.stringify([uri, local]);
  parser.on('doctype', () => {
    throw new Error('a DTD is not read');
  });
  parser.on('text', (piece) => (pending += piece));
  parser.on('cdata', (piece) => (pending += piece));
  const useName = () => usePatternWork(NAME_UNITS + level);
  parser.on('opentagstart', useName);
  parser.on('attribute', useName);
  parser.on('opentag', (tag) => {
    if (++level > LEVELS_MAX) throw new Error('it is nested too deeply');
    flush();
    const attributes = Object.values(tag.attributes)
      .filter(({ prefix, name }) => prefix !== 'xmlns' && name !== 'xmlns')
      .map((attribute) => `${nameOf(attribute)}=${JSON.stringify(attribute.value)}`);
    parts.push(`<${nameOf(tag)} ${attributes.toSorted().join(' ')}>`);
  });
  parser.on('closetag', () => {
    level--;
    flush();
    parts.push('</>');
  });
  parser.on('error', (error) => {
    throw error;
  });
  try {
    parser.write(text).close();
    return parts.join('');
  } catch (error) {
    if (error instanceof PatternWorkError) throw error;
    return undefined;
  }
}
