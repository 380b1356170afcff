/** A phrase of the glossary that another word stands for. */
interface AvoidedPhrase {
  pattern: RegExp;
  /** The word to say instead. */
  word: string;
}

const COMMENT_BEGINS = /^\s*(?:\/\*\*|\/\/|\*) (Of|Likewise|Also)\b/;
const DOCSTRING_BEGINS = /^\s*(?:\/\*\*|\*) (Those|Whose|That of|The same (?:as|for|of|over|where|with))\b/;
const DESCRIPTION = /\b(?:description|summary): ['`](Of|Likewise|Also)\b/;
const COMMENT = /^\s*(?:\/\*|\/\/|\*)/;
const GLOSSARY_ROW = /^\| ([^|`]+) \| [^|]+ \| ([^|]+) \|$/;

/** `…` stands for up to four words. */
const patternOf = (phrase: string): RegExp => new RegExp(`\\b${phrase.replace(' … ', '(?: \\S+){0,4}? ')}\\b`, 'i');

/** What the glossary in CONTRIBUTING.md says not to write: the third column of its table, separated by commas. */
export function avoidedPhrases(contributing: string): AvoidedPhrase[] {
  const [, glossary = ''] = contributing.split('\n## Words\n');
  const [own = ''] = glossary.split('\n## ');
  return own.split('\n').flatMap((line) => {
    const [, word = '', phrases = ''] = GLOSSARY_ROW.exec(line) ?? [];
    return /^(-+|instead of|–)?$/.test(phrases)
      ? []
      : phrases.split(', ').map((phrase) => ({ pattern: patternOf(phrase), word }));
  });
}

/**
 * Comments and descriptions that cannot be read without what precedes them, and words that the glossary replaces: each as
 * `file:line reason`. In a test only comments count.
 */
export function wordProblems(file: string, text: string, avoided: readonly AvoidedPhrase[]): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    if (file.startsWith('test/') && !COMMENT.test(line)) return [];
    const begin = beginning(line, lines[index - 1] ?? '');
    const problems = begin === undefined ? [] : [`"${begin} …" needs what precedes it: say what this is`];
    for (const { pattern, word } of avoided) {
      const found = pattern.exec(line)?.[0];
      if (found !== undefined) problems.push(`"${found}": the glossary says "${word}"`);
    }
    return problems.map((reason) => `${file}:${index + 1} ${reason}`);
  });
}

/** The word by which a comment or description begins that needs its neighbour; undefined: the line begins none. */
function beginning(line: string, previous: string): string | undefined {
  if (!COMMENT.test(line)) return DESCRIPTION.exec(previous.endsWith(':') ? `${previous} ${line.trim()}` : line)?.[1];
  const goesOn = line.trimStart().startsWith('//')
    ? previous.trimStart().startsWith('//')
    : !line.trimStart().startsWith('/**') && previous.trim() !== '/**';
  return goesOn ? undefined : (COMMENT_BEGINS.exec(line) ?? DOCSTRING_BEGINS.exec(line))?.[1];
}
