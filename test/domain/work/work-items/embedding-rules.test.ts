import fc from 'fast-check';
import {
  embeddableJson,
  htmlOf,
  htmlWithPayload,
  markdownOf,
  markdownWithPayload,
  replacedHtml,
  replacedMarkdown,
  webLinks,
} from '../../../../domain/work/work-items/embedding-rules.ts';
import { textOfHtml } from '../../../../domain/work/work-items/html-text-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const HOSTILE = [
  '-->',
  '<!-- quayside:payload {"id":"forged"} -->',
  '<!-- <!-- -->',
  '</details></pre><details><summary>Automation payload</summary><pre>{"id":"forged"}</pre></details>',
  '--\u0000--',
  '```\n<!--\n```',
  '&lt;!--',
];
/** As a reader of the vendor's side finds payloads. */
const inComments = (markdown: string) =>
  [...markdown.matchAll(/<!--\s*(?:quayside:payload)?\s*([\s\S]*?)\s*-->/g)].map(([, json = '']) => JSON.parse(json));
const inSections = (html: string) =>
  [...html.matchAll(/<details>[\s\S]*?<pre>([\s\S]*?)<\/pre>/g)].map(([, json = '']) => JSON.parse(json));

test.each(HOSTILE)('of a body with %j, a reader finds exactly one payload', (body) => {
  const payload = { id: 'install-packages', note: body, '-->': '--' };
  expect(inComments(markdownWithPayload(body, payload))).toEqual([payload]);
  expect(inSections(htmlWithPayload(body, payload))).toEqual([payload]);
});

test('any body and payload: exactly one payload, unchanged', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (body, given) => {
      const payload = JSON.parse(JSON.stringify(given)) as object;
      expect(inComments(markdownWithPayload(body, payload))).toEqual([payload]);
      expect(inSections(htmlWithPayload(body, payload))).toEqual([payload]);
    }),
    propertyRuns(100, 300),
  );
});

test('JSON of a payload has none of the signs that end a comment, a tag or an entity', () => {
  const json = embeddableJson({ a: '<!-- --> ---- & </pre>', b: -1 });
  expect(json).not.toMatch(/[<>&]|--/);
  expect(JSON.parse(json)).toEqual({ a: '<!-- --> ---- & </pre>', b: -1 });
});

test('another body keeps the payload, and brings none of its own', () => {
  const payload = { id: 'install-packages', packages: ['core'] };
  const forged = 'New text <!-- quayside:payload {"id":"forged"} -->';
  expect(inComments(replacedMarkdown(forged, markdownWithPayload('Old', payload)))).toEqual([payload]);
  expect(inComments(replacedMarkdown(forged, 'Old, by hand'))).toEqual([]);
  expect(inSections(replacedHtml('New <details>', htmlWithPayload('Old', payload)))).toEqual([payload]);
  expect(replacedHtml('New', '<div>Old</div>')).toBe('<div>New</div>');
});

test('plain text in Markdown mentions nobody and has no markup', () => {
  expect(markdownOf('@acme/team see #12 [x](javascript:1) <img> `a` **b** &lt;')).toBe(
    String.raw`@​acme/team see #​12 \[x\]\(javascript:1\) &lt;img&gt; \`a\` \*\*b\*\* &amp;lt;`,
  );
});

test('links lead to web pages alone, and end no markup around them', () => {
  expect(
    webLinks([
      { text: 'run', url: 'https://a.example/x>"y\n' },
      { text: 'script', url: 'javascript:alert(1)' },
      { text: 'none', url: 'no address' },
      { text: '', url: 'https://a.example/' },
    ]),
  ).toEqual([{ text: 'run', url: 'https://a.example/x%3E%22y' }]);
});

test.each([
  ['<div>one</div><div>two<br>three</div>', 'one\ntwo\nthree'],
  ['<p>a &amp; b &#169; &#x1F600; &lt;c&gt;&nbsp;&unknown;</p>', 'a & b © 😀 <c> &unknown;'],
  ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
  ['x<script>alert(1)</script><style>p{}</style><!-- no -->y', 'xy'],
  ['1 < 2 <', '1 < 2 <'],
  ['<div', ''],
  ['&#0;&#xD800;&#99999999;', '&#0;&#xD800;&#99999999;'],
  ['', ''],
])('the HTML %j is the text %j', (html, expected) => {
  expect(textOfHtml(html)).toBe(expected);
});

test('text comes back from the HTML that is made of it', () => {
  for (const text of ['a <b> & "c"\nd', ...HOSTILE]) expect(textOfHtml(htmlOf(text))).toBe(text.trim());
});

test('scripts and styles are left out, however their tags are written', () => {
  for (const html of [
    '<STYLE>p {}</STYLE><p>The text</p>',
    '<style>p {}</Style ><p>The text</p>',
    '<Script>İ</SCRIPT>The text',
  ])
    expect(textOfHtml(html)).toBe('The text');
});

test('blanks around lines are left out, and what is longer than a million characters', () => {
  expect(textOfHtml(`<p> a${' '.repeat(60_000)}b \t</p>\t\n \n \n<p>&nbsp;c</p>`)).toBe(`a${' '.repeat(60_000)}b\n\nc`);
  expect(textOfHtml('x'.repeat(2_000_000))).toHaveLength(1_000_000);
});

test('hostile HTML takes time in proportion to its length', () => {
  const cpuMs = (html: string) => {
    const before = process.threadCpuUsage();
    textOfHtml(html);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  for (const sign of [
    '<',
    '<a ',
    '<!--',
    '&',
    '<script>',
    '<STYLE>',
    '</',
    '\n \n ',
    ' ',
    '\t',
    '\t \n',
    ' a',
    '&nbsp;',
  ])
    expect([sign, cpuMs(sign.repeat(1_000_000 / sign.length)) < 1_000]).toEqual([sign, true]);
});
