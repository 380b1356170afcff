import { didYouMean, nearestWord } from '../../../../domain/kernel/text/suggestion-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const ENVIRONMENTS = ['dev', 'uat', 'prod', 'prod-eu', 'integration'];
const FIELDS = ['repositoryIdentifier', 'domain', 'releaseName', 'environmentName', 'deploymentStatus'];

test.each<[string, readonly string[], string | undefined]>([
  ['prd', ENVIRONMENTS, 'prod'],
  ['PROD', ENVIRONMENTS, 'prod'],
  ['prod_eu', ENVIRONMENTS, 'prod-eu'],
  ['integratoin', ENVIRONMENTS, 'integration'],
  ['int', ENVIRONMENTS, 'integration'],
  ['tau', ENVIRONMENTS, undefined],
  ['uta', ENVIRONMENTS, 'uat'],
  ['production-of-another-continent', ENVIRONMENTS, undefined],
  ['repoIdentifier', FIELDS, 'repositoryIdentifier'],
  ['environment', FIELDS, 'environmentName'],
  ['Name', FIELDS, undefined],
  ['', FIELDS, undefined],
  ['x', ENVIRONMENTS, undefined],
  ['dev', ['dev'], undefined],
])('%s among %j means %s', (word, known, expected) => {
  expect(nearestWord(word, known)).toBe(expected);
});

test('a suggestion is the end of a sentence, or nothing', () => {
  expect(didYouMean('relase', ['release'])).toBe('; did you mean release?');
  expect(didYouMean('colour', ['release'])).toBe('');
});

test('hostile words cost next to nothing', () => {
  const known = Array.from({ length: 100_000 }, (_, index) => `${'a'.repeat(60)}${index % 1_000}`);
  const cpuMs = threadCpuMs(() => {
    expect(nearestWord('b'.repeat(1_000_000), known)).toBeUndefined();
    expect(nearestWord('b'.repeat(64), known)).toBeUndefined();
  });
  expect(cpuMs).toBeLessThan(1_000);
});
