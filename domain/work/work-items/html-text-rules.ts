const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
]);

const characterOf = (entity: string, name: string): string => {
  if (!name.startsWith('#')) return ENTITIES.get(name.toLowerCase()) ?? entity;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff) ? String.fromCodePoint(code) : entity;
};

/** Most characters of HTML that are read. */
const HTML_MAX = 1_000_000;

const isBlank = (sign: string | undefined): boolean => sign === ' ' || sign === '\t';

/** A regular expression that looks for blanks at the end takes quadratic time for blanks elsewhere. */
function withoutOuterBlanks(line: string): string {
  let [start, end] = [0, line.length];
  while (isBlank(line[start])) start++;
  while (end > start && isBlank(line[end - 1])) end--;
  return line.slice(start, end);
}

/** HTML of a work item as plain text, of at most its first 1,000,000 characters: without tags, comments, scripts and styles; blocks begin new lines. */
export function textOfHtml(html: string): string {
  return withoutMarkup(html.slice(0, HTML_MAX))
    .replaceAll(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, characterOf)
    .split('\n')
    .map(withoutOuterBlanks)
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const BLOCKS = /^(p|div|li|tr|h[1-6]|ul|ol|table|pre|blockquote|details|summary|section)$/;
const HIDDEN = new Set(['script', 'style']);

/** One pass from sign to sign: a regular expression over whole tags takes quadratic time for `<<<<<`. */
function withoutMarkup(html: string): string {
  const parts: string[] = [];
  let isLineBegun = false;
  const write = (text: string) => {
    parts.push(text);
    if (text.trim() !== '') isLineBegun = true;
  };
  const breakLine = () => {
    parts.push('\n');
    isLineBegun = false;
  };
  // Other than `toLowerCase`, this keeps the length of every text.
  const lowerCase = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) break;
    write(html.slice(at, open));
    if (html.startsWith('<!--', open)) {
      at = endOf(html, '-->', open + 4);
      continue;
    }
    const [isTag, slash, tag = ''] =
      /^(\/?)([a-z][a-z0-9]{0,20})/.exec(html.slice(open + 1, open + 24).toLowerCase()) ?? [];
    if (isTag === undefined) {
      write('<');
      at = open + 1;
      continue;
    }
    at = endOf(html, '>', open + 1);
    if (HIDDEN.has(tag) && slash === '') at = endOf(html, '>', endOf(lowerCase, `</${tag}`, at));
    else if (tag === 'br' || (BLOCKS.test(tag) && isLineBegun)) breakLine();
    if (tag === 'li' && slash === '') parts.push('- ');
  }
  write(html.slice(at));
  return parts.join('');
}

/** Behind the next occurrence; the end of the text without one. */
function endOf(html: string, sign: string, from: number): number {
  const found = html.indexOf(sign, from);
  return found === -1 ? html.length : found + sign.length;
}
