import { SaxesParser } from 'saxes';

/** Characters of a document that is compared. */
const TEXT_MAX = 1_000_000;
const LEVELS_MAX = 200;

/**
 * A text that is the same for documents which say the same: white space between elements, comments, the order of
 * attributes and prefixes do not count. Undefined for what is no XML, or too large. DTDs are refused.
 */
export function canonicalXml(text: string): string | undefined {
  if (text.length > TEXT_MAX || !/^\s*</.test(text)) return undefined;
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
  } catch {
    return undefined;
  }
}
