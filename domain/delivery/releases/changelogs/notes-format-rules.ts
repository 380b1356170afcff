import { escapeHtml } from '../../../kernel/text/html-rules.ts';
import { type NotesText, plainLine, writeNotes } from './release-notes-rules.ts';

/**
 * Text in Markdown (CommonMark 0.31 with GitHub's extensions) that shows as it is: what begins emphasis, code, links,
 * images, HTML, entities, tables, formulas, automatic links, headings or lists is escaped.
 */
export const markdownText = (raw: string): string =>
  plainLine(raw)
    .replaceAll(/[\\`*_{}[\]<>#|~&$@]/g, '\\$&')
    .replace(/^[-+=]/, '\\$&')
    .replace(/^(\d+)([.)])/, '$1\\$2')
    .replaceAll(/:(?=\/\/)/g, '\\:')
    .replaceAll(/(?<=\bwww)\./gi, '\\.');

/** The notes of a release as Markdown. */
export const markdownNotes = (notes: NotesText): string =>
  writeNotes(notes, {
    text: markdownText,
    code: (raw) => `\`${raw.replaceAll('`', '')}\``,
    link: (raw, url) => `[${markdownText(raw)}](<${url.replaceAll(/[<>\\]/g, encodeURIComponent)}>)`,
    heading: (level, content) => `${'#'.repeat(level)} ${content}\n\n`,
    paragraph: (content) => `_${content}_\n\n`,
    list: (items) => `${items.map((item) => `- ${item}\n`).join('')}\n`,
    document: (_, content) => content,
  });

const htmlText = (raw: string): string => escapeHtml(plainLine(raw));

/** The notes of a release as an HTML page that loads nothing. */
export const htmlNotes = (notes: NotesText): string =>
  writeNotes(notes, {
    text: htmlText,
    code: (raw) => `<code>${escapeHtml(raw)}</code>`,
    link: (raw, url) => `<a href="${escapeHtml(url)}" rel="noopener noreferrer">${htmlText(raw)}</a>`,
    heading: (level, content) => `<h${level}>${content}</h${level}>\n`,
    paragraph: (content) => `<p>${content}</p>\n`,
    list: (items) => `<ul>\n${items.map((item) => `<li>${item}</li>\n`).join('')}</ul>\n`,
    document: (title, content) =>
      `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${htmlText(title)}</title>\n</head>\n<body>\n${content}</body>\n</html>\n`,
  });
