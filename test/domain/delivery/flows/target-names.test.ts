import { targetNames, type TargetNames } from '../../../../domain/delivery/flows/target-name-rules.ts';

/** The names, and the most time of this thread between two pauses, however many others share the processor. */
function read(payload: Record<string, unknown>): { names: TargetNames; longestMs: number } {
  const reading = targetNames(payload, { isOnSandbox: false });
  let longestMs = 0;
  for (;;) {
    const before = process.threadCpuUsage();
    const { done, value } = reading.next();
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    if (done) return { names: value, longestMs };
  }
}

/** A reading in linear time stays far below this; a quadratic one takes minutes. */
const HANGS_MS = 2_000;
const MB = 1024 * 1024;
const text = (part: string, length = MB) => part.repeat(Math.floor(length / part.length));
const many = (count: number, make: (n: number) => string) => Array.from({ length: count }, (_, n) => make(n));
const members = (count: number, key: (n: number) => string) =>
  Object.fromEntries(many(count, key).map((name) => [name, 'x']));

test.each<[string, unknown]>([
  ['a word that ends in dots, almost', `@${text('.')}x`],
  ['a word that ends in exclamation marks, almost', `${text('!')}@${text('!')}x`],
  ['a long word', `@${text('a')}`],
  ['many short words', text('a- ')],
  ['a word of signs', text('@')],
  ['invisible characters', `@${text('\u200b')}`],
  ['commas', { environmentNames: text(',') }],
  ['one name in many forms', { environmentNames: text('Ａ,') }],
  ['members that name environments', members(50_000, (n) => `target-env-${n}-name`)],
  ['members with long names', members(500, (n) => text('environment-', 2_000) + n)],
  ['members of a document in a text', JSON.stringify(members(50_000, (n) => `@${n}`.slice(0, 3)))],
  ['what begins like a document', `[${text('INFO, ')}`],
  ['what begins like a deep document', text('[')],
])('%s: others are served meanwhile', (_, value) => {
  expect(read(typeof value === 'string' ? { value } : (value as Record<string, unknown>)).longestMs).toBeLessThan(
    HANGS_MS,
  );
});

test.each<[string, unknown]>([
  ['a document of many elements in a text', `[${text('0,')}0]`],
  ['the same with white space behind it', `[${text('0,')}0]${' '.repeat(1_000)}`],
  ['a deep document in a text', `${'['.repeat(101)}${']'.repeat(101)}`],
  ['documents in texts that have many elements together', many(3, () => `[${text('0,', 80_000)}0]`)],
  ['many addresses', many(50_001, (n) => `${n}@acme.example`)],
  ['many environments', { environmentNames: many(50_001, (n) => `env-${n}`).join(',') }],
])('%s: refused, since a target could be among them', (_, value) => {
  expect(() =>
    read(typeof value === 'string' || Array.isArray(value) ? { value } : (value as Record<string, unknown>)),
  ).toThrow('The payload has too many');
});

test('names are found at the end of much else', () => {
  const { names } = read({
    log: `[${text('INFO, ')}\nto deploy@acme.example.`,
    words: `${text('a- ')} Deploy@Ac\ufeffme.example.uat!`,
    nested: JSON.stringify({ list: many(20_000, () => 'x'), environmentName: 'Prod' }),
  });
  expect([...names.mentions].toSorted()).toEqual(['deploy@acme.example', 'deploy@acme.example.uat']);
  expect([...names.environments]).toEqual(['prod']);
});
