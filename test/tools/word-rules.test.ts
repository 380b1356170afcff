import { readFileSync } from 'node:fs';
import { avoidedPhrases, wordProblems } from '../../tools/word-rules.ts';

const avoided = avoidedPhrases(readFileSync('CONTRIBUTING.md', 'utf8'));

test.each([
  ['/** Of one call. */', '"Of …"'],
  ['  /** Likewise, by its name. */', '"Likewise …"'],
  ['  // Also where nothing is left.', '"Also …"'],
  ['  /** Those that are open. */', '"Those …"'],
  ['/** The same for scratch orgs. */', '"The same for …"'],
  ['/**\n * Of each kept commit its parents.\n */', '"Of …"'],
  ["name: z.string().meta({ description: 'Of the org' }),", '"Of …"'],
  ["log.info('a host of browsers began');", '"browser host"'],
  ['/** Lends a browser. */', '"allocate"'],
  ['// The pipeline that carries the whole run out.', '"execute"'],
  ['/** When it gave its last sign of life. */', '"heartbeat"'],
])('%s is to be written otherwise', (text, reason) => {
  expect(wordProblems('domain/a.ts', text, avoided)).toEqual([expect.stringContaining(reason)]);
});

test.each([
  '/** Time-out of one call, in milliseconds. */',
  '/**\n * The parents of each kept commit.\n * Of merges all parents count.\n */',
  '// The first line goes on.\n// Also in the second.',
  '/** Whether the host is silent. */',
  '// Those that wait are served first.',
  '/** The same request has the same key. */',
  "const equivalent = 'carries it';",
])('%s is not', (text) => {
  expect(wordProblems('domain/a.ts', text, avoided)).toEqual([]);
});

test('a test may use the words in what is not a comment', () => {
  const text = "const pool = 'lent';\n// It is lent.";
  expect(wordProblems('test/a.test.ts', text, avoided)).toEqual([
    'test/a.test.ts:2 "lent": the glossary says "allocate"',
  ]);
});
