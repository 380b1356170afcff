import { documentOf, documentWithCode, plainTextOf } from '../../../../domain/work/work-items/document-tree-rules.ts';
import { isDocument } from '../../../simulators/trackers/jira-documents.ts';

const doc = (...content: object[]) => ({ type: 'doc', version: 1, content });
const text = (value: string, marks?: object[]) => ({ type: 'text', text: value, ...(marks && { marks }) });
const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
const item = (value: string) => ({ type: 'listItem', content: [paragraph(text(value))] });

test.each([
  ['paragraphs', doc(paragraph(text('one')), paragraph(text('two'))), 'one\n\ntwo'],
  ['marks', doc(paragraph(text('in '), text('bold', [{ type: 'strong' }]))), 'in bold'],
  ['line breaks', doc(paragraph(text('one'), { type: 'hardBreak' }, text('two'))), 'one\ntwo'],
  ['headings and rules', doc({ type: 'heading', content: [text('Title')] }, { type: 'rule' }), 'Title\n\n---'],
  ['lists', doc({ type: 'bulletList', content: [item('one'), item('two')] }), '- one\n- two'],
  ['numbered lists', doc({ type: 'orderedList', content: [item('one'), item('two')] }), '1. one\n2. two'],
  ['code', doc({ type: 'codeBlock', content: [text('select 1;\n\n\n\ngo')] }), 'select 1;\n\ngo'],
  ['mentions', doc(paragraph(text('for '), { type: 'mention', attrs: { id: '5b10', text: '@Dana' } })), 'for @Dana'],
  ['cards', doc(paragraph({ type: 'inlineCard', attrs: { url: 'https://a.example' } })), 'https://a.example'],
  ['dates', doc(paragraph({ type: 'date', attrs: { timestamp: '1772409600000' } })), '2026-03-02'],
  ['dates that are none', doc(paragraph({ type: 'date', attrs: { timestamp: 'soon' } })), 'soon'],
  ['emoji', doc(paragraph({ type: 'emoji', attrs: { shortName: ':tada:' } })), ':tada:'],
  ['what unfolds', doc({ type: 'expand', attrs: { title: 'Log' }, content: [paragraph(text('fine'))] }), 'Log\nfine'],
  [
    'tables',
    doc({
      type: 'table',
      content: [
        { type: 'tableRow', content: [{ type: 'tableHeader', content: [paragraph(text('a'))] }] },
        {
          type: 'tableRow',
          content: ['b', 'c'].map((cell) => ({ type: 'tableCell', content: [paragraph(text(cell))] })),
        },
      ],
    }),
    'a\nb | c',
  ],
  ['unknown nodes by what they hold', doc({ type: 'novelty', content: [text('seen')] }), 'seen'],
  ['a text of an older interface', 'plain', 'plain'],
  ['nothing', null, ''],
  ['what is no document', { description: 'x' }, ''],
  ['hostile content', { type: 'doc', content: 'no list' }, ''],
  ['hostile nodes', doc(null as never, 1 as never, { type: 7 }, { type: 'text', text: { a: 1 } }), ''],
])('%s become plain text', (_, document, expected) => {
  expect(plainTextOf(document)).toBe(expected);
});

test('a document that is nested ten thousand times ends where no editor nests', () => {
  let node: object = text('deep');
  for (let depth = 0; depth < 10_000; depth++) node = { type: 'blockquote', content: [node] };
  expect(plainTextOf(doc(paragraph(text('seen')), node))).toBe('seen');
});

test.each(['one', 'one\ntwo\n\nthree', '\n\n', '', '  \r\n\r\n\r\na', '<b>&amp;--></b>', '😀'])(
  'the text %j makes a document that Jira takes, and comes back',
  (given) => {
    const document = documentOf(given);
    expect(isDocument(document)).toBe(true);
    expect(plainTextOf(document)).toBe(
      given
        .replaceAll('\r\n', '\n')
        .replaceAll(/\n{3,}/g, '\n\n')
        .trim(),
    );
  },
);

test('code is unfolded below the text', () => {
  const document = documentWithCode('Please.', { title: 'Payload', code: '{"id":"x"}' });
  expect(isDocument(document)).toBe(true);
  expect(document.content.at(-1)).toEqual({
    type: 'expand',
    attrs: { title: 'Payload' },
    content: [{ type: 'codeBlock', attrs: { language: 'json' }, content: [{ type: 'text', text: '{"id":"x"}' }] }],
  });
});
