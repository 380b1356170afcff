import { documentWithCode } from './document-tree-rules.ts';
import type { TrackerPlatform } from './work-tracker.port.ts';

/** Heading of what people may unfold: the payload for automation. */
export const PAYLOAD_TITLE = 'Automation payload';

/** JSON that can stand in an HTML comment, in HTML and in a block of code as it is: without `<`, `>`, `&` and `--`. */
export const embeddableJson = (payload: unknown): string =>
  JSON.stringify(payload).replace(/[<>&]|-(?=-)/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);

/** Markdown of a person, in which a payload is the only comment; without one it has none. */
export function markdownWithPayload(body: string, payload?: unknown): string {
  const harmless = body.replaceAll('<!--', '&lt;!--');
  return payload === undefined ? harmless : `${harmless}\n\n<!-- quayside:payload ${embeddableJson(payload)} -->`;
}

/** Plain text as HTML. */
export const htmlOf = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/\r?\n/g, '<br>');

/** Text of a person as HTML with a payload in a section to unfold. */
export function htmlWithPayload(body: string, payload?: unknown): string {
  const shown = `<div>${htmlOf(body)}</div>`;
  return payload === undefined
    ? shown
    : `${shown}<details><summary>${PAYLOAD_TITLE}</summary><pre>${embeddableJson(payload)}</pre></details>`;
}

/** The most characters of a work item's text. That of host-b is larger than any request. */
export const TEXT_MAX: Record<TrackerPlatform, number> = {
  'host-a': 65_536,
  'host-b': 1_000_000,
  'tracker-a': 32_767,
};

/** Characters of the text that a work item gets for a body and a payload. */
export function textLength(platform: TrackerPlatform, body: string, payload: unknown): number {
  if (platform === 'host-a') return markdownWithPayload(body, payload).length;
  if (platform === 'host-b') return htmlWithPayload(body, payload).length;
  const code = embeddableJson(payload);
  return JSON.stringify(documentWithCode(body, { title: PAYLOAD_TITLE, code })).length;
}

const EMBEDDED_COMMENT = /<!-- quayside:payload ([^<>]*) -->/;
const EMBEDDED_SECTION = new RegExp(`<details><summary>${PAYLOAD_TITLE}</summary><pre>([^<>]*)</pre></details>`);

/** Another body for a work item, which keeps the payload that the old one has. */
export function replacedMarkdown(body: string, old: string): string {
  const kept = EMBEDDED_COMMENT.exec(old)?.[0];
  return markdownWithPayload(body) + (kept === undefined ? '' : `\n\n${kept}`);
}

export const replacedHtml = (body: string, old: string): string =>
  htmlWithPayload(body) + (EMBEDDED_SECTION.exec(old)?.[0] ?? '');

/** A mark that HTML and Markdown do not show. */
export const inHtmlComment = (marker: string): string => `<!-- ${marker} -->`;

/**
 * Plain text as Markdown that shows it as it is: without markup, and without mentioning people, issues or commits, which
 * GitHub finds in the text that is shown.
 */
export const markdownOf = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_{}[\]()+!|~-]/g, String.raw`\$&`)
    .replaceAll(/[@#]/g, '$&\u{200b}')
    .replaceAll(/\r?\n/g, '  \n');

/** Links to web pages, normalized so that no sign in them ends the markup around them; other links are left out. */
export const webLinks = (links: readonly { text: string; url: string }[]): { text: string; url: string }[] =>
  links.flatMap(({ text, url }) => {
    const parsed = URL.parse(url);
    return parsed && /^https?:$/.test(parsed.protocol) && text !== ''
      ? [{ text, url: parsed.href.replaceAll(/[<>"'\s]/g, encodeURIComponent) }]
      : [];
  });
