import { readFileSync } from 'node:fs';
import { ConfigError, parseConfig, publicUrlOf, SETTINGS } from '../../../domain/shared/config.ts';

const needed = { DATABASE_URL: 'postgres://localhost/quayside', TEMPORAL_ADDRESS: 'localhost:7233' };

test('what is absent or empty takes its default', () => {
  const config = parseConfig({ ...needed, PORT: '' });
  expect(config).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', isProduction: false, RATE_LIMIT_PER_MINUTE: 600 });
  expect(publicUrlOf(config)).toBe('http://127.0.0.1:3000');
});

test.each([
  [{ TEMPORAL_ADDRESS: 'localhost:7233' }, 'The environment variable DATABASE_URL is missing.'],
  [{ ...needed, DATABASE_URL: 'mysql://x' }, 'The environment variable DATABASE_URL is malformed'],
  [{ ...needed, PORT: '70000' }, 'The environment variable PORT is malformed'],
  [{ ...needed, TEMPORAL_ADDRESS: 'localhost' }, 'TEMPORAL_ADDRESS is malformed: must be host:port'],
  [{ ...needed, BASE_PATH: 'x/' }, 'BASE_PATH is malformed'],
  [{ ...needed, NODE_ENV: 'production' }, 'ENCRYPTION_KEYS is missing; in production no key is invented'],
])('%p is refused by one sentence', (env, sentence) => {
  expect(() => parseConfig(env)).toThrow(ConfigError);
  expect(() => parseConfig(env)).toThrow(sentence);
});

test('the public address ends without a slash and carries the base path', () => {
  const config = parseConfig({ ...needed, PUBLIC_URL: 'https://release.example/', BASE_PATH: '/quayside' });
  expect(publicUrlOf(config)).toBe('https://release.example/quayside');
});

test('docs/operations.md lists each setting once', () => {
  const lines = readFileSync('docs/operations.md', 'utf8').split('\n');
  const cells = lines.map((line) => /^\|((?:\s*`[A-Z_]+`,?)+)\s*\|/.exec(line)?.[1] ?? '');
  const listed = cells.flatMap((cell) => cell.match(/[A-Z_]+/g) ?? []);
  expect(SETTINGS.filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name, index) => listed.indexOf(name) !== index)).toEqual([]);
});
