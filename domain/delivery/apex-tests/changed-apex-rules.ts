/** What can be read from the source of a class or trigger. */
export interface ApexUnit {
  name: string;
  kind: 'class' | 'trigger';
  path: string;
  /** Marked as a test: none of its lines count for coverage. */
  isTest: boolean;
  /** Has methods that run as tests. */
  isRunnable: boolean;
  /** Something in it can be executed: it is no interface or enum. */
  hasCode: boolean;
  /** What it names of the words that were asked for, in small letters. */
  words: ReadonlySet<string>;
  /** What a trigger is on, in small letters. */
  object: string | null;
}

/** How a file is a class or a trigger, with its settings beside it; undefined: it is neither. */
export function apexPath(path: string): { name: string; kind: ApexUnit['kind']; isSettings: boolean } | undefined {
  const [, name = '', ending = '', settings] = /(?:^|\/)(\w{1,255})\.(cls|trigger)(-meta\.xml)?$/.exec(path) ?? [];
  return name === ''
    ? undefined
    : { name, kind: ending === 'cls' ? 'class' : 'trigger', isSettings: settings !== undefined };
}

/** Each match is found at once, also where what it begins with never ends. */
const COMMENT_OR_TEXT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^'\\\n]|\\.)*'?/g;
const WORD = /[a-z_]\w*/g;
const TRIGGER_ON = /^\s*trigger\s+\w+\s+on\s+(\w+)/;
const TEST_METHOD = /@istest\b[^{};]{0,300}\bvoid\b|\btestmethod\b/;
const NO_CODE = /^[^{]{0,2000}\b(?:interface|enum)\s+\w+/;

/** The object that the source of a trigger names. */
export const objectOfTrigger = (text: string): string | null =>
  TRIGGER_ON.exec(withoutComments(text).toLowerCase())?.[1] ?? null;

const withoutComments = (text: string): string =>
  text.replace(COMMENT_OR_TEXT, (match) => (match.startsWith("'") ? match : ' '));

/** @param isWanted whether a word, in small letters, is one that is looked for. */
export function apexUnit(path: string, text: string, isWanted: (word: string) => boolean): ApexUnit | undefined {
  const found = apexPath(path);
  if (!found || found.isSettings) return undefined;
  // Names in texts count, as a class may be made by its name.
  const source = withoutComments(text).toLowerCase();
  const words = new Set<string>();
  for (const [word] of source.matchAll(WORD)) if (isWanted(word)) words.add(word);
  const code = source.replace(COMMENT_OR_TEXT, "''");
  return {
    name: found.name,
    kind: found.kind,
    path,
    isTest: /@istest\b/.test(code) || /\btestmethod\b/.test(code),
    isRunnable: TEST_METHOD.test(code),
    hasCode: !NO_CODE.test(code),
    words,
    object: TRIGGER_ON.exec(code)?.[1] ?? null,
  };
}

/** Which tests concern what changed. */
export interface ConcernedTests {
  /** Names of classes. */
  tests: string[];
  /** What changed, is no test itself, and is named by no test, neither directly nor through other classes. */
  untested: string[];
}

/**
 * The test classes that changed, and of each class that changed those that name it: directly, or, where none does, the next
 * ones that name it through other classes. For a trigger count those of the classes that it calls, and those that name its
 * object.
 */
export function concernedTests(units: readonly ApexUnit[], changed: readonly ApexUnit[]): ConcernedTests {
  const referrers = new Map<string, ApexUnit[]>();
  for (const unit of units)
    for (const word of unit.words) {
      const others = referrers.get(word);
      if (others) others.push(unit);
      else referrers.set(word, [unit]);
    }
  const classes = new Map(units.filter(({ kind }) => kind === 'class').map((unit) => [unit.name.toLowerCase(), unit]));
  const tests = new Set<string>();
  const untested: string[] = [];
  for (const unit of changed) {
    if (unit.isRunnable) {
      tests.add(unit.name);
      continue;
    }
    const found = new Set<string>();
    const called = unit.kind === 'trigger' ? [...unit.words].flatMap((word) => classes.get(word) ?? []) : [unit];
    for (const from of called) for (const test of nearestTests(from, referrers)) found.add(test);
    for (const each of unit.object === null ? [] : (referrers.get(unit.object) ?? []))
      if (each.isRunnable) found.add(each.name);
    if (found.size === 0 && !unit.isTest && unit.hasCode) untested.push(unit.name);
    for (const test of found) tests.add(test);
  }
  return { tests: [...tests].toSorted(), untested };
}

function nearestTests(unit: ApexUnit, referrers: ReadonlyMap<string, readonly ApexUnit[]>): string[] {
  const seen = new Set([unit]);
  for (let level = [unit]; level.length > 0; ) {
    const next = level.flatMap(({ name }) => referrers.get(name.toLowerCase()) ?? []).filter((each) => !seen.has(each));
    for (const each of next) seen.add(each);
    level = [...new Set(next)];
    const tests = level.filter(({ isRunnable }) => isRunnable);
    if (tests.length > 0) return tests.map(({ name }) => name);
  }
  return [];
}

/** Lines of a file: the first, and how many. */
export type LineRange = readonly [first: number, count: number];

/** Whether the org has a class as the commit has it: line ends, and blanks at the end, do not count. */
export const isSameSource = (ofCommit: string, ofOrg: string): boolean => plain(ofCommit) === plain(ofOrg);
const plain = (text: string): string =>
  text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .trimEnd();

/** How many of the lines that can be covered changed, and how many of these are. */
export function changedCoverage(
  ranges: readonly LineRange[],
  { covered, uncovered }: { covered: readonly number[]; uncovered: readonly number[] },
): { lines: number; covered: number } {
  const isChanged = (line: number) => ranges.some(([first, count]) => line >= first && line < first + count);
  const hit = covered.filter(isChanged).length;
  return { lines: hit + uncovered.filter(isChanged).length, covered: hit };
}
