import { type Node, Parser } from 'commonmark';
import fc from 'fast-check';
import {
  htmlNotes,
  markdownNotes,
  markdownText,
} from '../../../../domain/delivery/releases/changelogs/notes-format-rules.ts';
import { plainLine } from '../../../../domain/delivery/releases/changelogs/release-notes-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const HOSTILE = [
  '# heading',
  '- item',
  '12. item',
  '1) item',
  '> quote',
  '***',
  '---',
  '===',
  '| a | b |',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '![x](https://evil.example/x.png)',
  '[click](javascript:alert(1))',
  '<javascript:alert(1)>',
  'https://evil.example and www.evil.example',
  '[ref]: https://evil.example',
  '`code` ``more`` ~~gone~~ **bold** __bold__ _it_',
  '&lt;b&gt; &#60;',
  'ends with a backslash \\',
  'two  spaces   ',
  'line\nbreak\r\n# heading',
  'nul\u0000 bell\u0007 right to left \u202Egnp.exe',
  '```\nfence',
  '$x^2$ $$y$$',
  '    indented',
  '\t# tab',
  ')](https://evil.example)',
  'Größe 日本 🚢',
];

const notesWith = (text: string) => ({
  repositoryIdentifier: 'acme/shop',
  releaseName: text,
  domains: [
    {
      domain: text,
      previousReleaseName: text,
      bases: [{ environment: text }],
      deployments: [{ environment: text, deployedAt: '2026-01-01T00:00:00.000Z', isRolledBack: true }],
      addedWorkItems: [
        { key: text, url: 'https://tracker.example.com/browse/a b>)', totalCommits: 1 },
        { key: text, url: 'javascript:alert(1)', totalCommits: 2 },
      ],
      summary: { added: { pullRequests: [1, 2] } },
      noLongerIncluded: {
        workItems: [{ key: text, url: 'https://tracker.example.com/browse/c', totalCommits: 1, packages: [text] }],
        pullRequests: [3],
      },
      dependencyCycles: [[text, text]],
      packages: [
        {
          packageName: text,
          direction: 'upgrade' as const,
          fromVersion: text,
          toVersion: '1.0',
          added: { totalCommits: 3, commits: [{ sha: 'abcdef0123456789', message: text, authorName: text }] },
          removed: { totalCommits: 1, commits: [{ sha: 'abcdef0123456789', message: text, authorName: text }] },
          missingChangelog: { message: text },
        },
      ],
    },
  ],
});

/** What a reader sees of each block, and the kinds of nodes there are. */
function shown(markdown: string): { texts: string[]; kinds: string[]; links: (string | null)[] } {
  const walker = new Parser().parse(markdown).walker();
  const [texts, kinds, links]: [string[], string[], (string | null)[]] = [[], [], []];
  for (let event = walker.next(); event; event = walker.next()) {
    const node: Node = event.node;
    if (!event.entering) continue;
    kinds.push(node.type);
    if (node.type === 'paragraph' || node.type === 'heading') texts.push('');
    if (node.type === 'text' || node.type === 'code') texts.push((texts.pop() ?? '') + (node.literal ?? ''));
    if (node.type === 'link' || node.type === 'image') links.push(node.destination);
  }
  return { texts, kinds, links };
}

const unspaced = (text: string) => text.replaceAll(' ', '');

/** The notes with a harmless text have these blocks; every other text must have the same. */
const PLAIN = shown(markdownNotes(notesWith('plain')));

test.each(HOSTILE)('in Markdown %j is the text that it is, and nothing else', (text) => {
  const { texts, kinds, links } = shown(markdownNotes(notesWith(text)));
  expect(kinds.filter((kind) => kind !== 'text')).toEqual(PLAIN.kinds.filter((kind) => kind !== 'text'));
  expect(links).toEqual(PLAIN.links);
  expect(texts.map(unspaced)).toEqual(
    PLAIN.texts.map((each) => unspaced(each.replaceAll('plain', () => plainLine(text)))),
  );
});

test('any text comes out of Markdown as it went in', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.oneof(
          fc.constantFrom(...'\\`*_{}[]<>()#+-.!|~&:=@$"\'^;/,1 aw\n\t'),
          fc.string({ minLength: 1, maxLength: 1 }),
        ),
        maxLength: 40,
      }),
      (text) => {
        const { texts, kinds } = shown(`- ${markdownText(`x${text}`)}\n`);
        expect(kinds.filter((kind) => kind !== 'text')).toEqual(['document', 'list', 'item', 'paragraph']);
        expect(texts).toEqual([plainLine(`x${text}`)]);
        // At the beginning of a line, too, nothing becomes a block of another kind.
        const line = plainLine(text);
        if (line !== '') expect(shown(markdownText(text))).toMatchObject({ texts: [line], links: [] });
      },
    ),
    propertyRuns(150, 500),
  );
});

test.each(HOSTILE)('in HTML %j makes no element and no address', (text) => {
  const html = htmlNotes(notesWith(text));
  const tags = (page: string) => page.match(/<[^>]*>/g)?.map((tag) => tag.replace(/href="https:[^"]*"/, 'href'));
  expect(tags(html)).toEqual(tags(htmlNotes(notesWith('plain'))));
  expect(html.match(/href="(?!https:\/\/tracker)/g)).toBeNull();
});
