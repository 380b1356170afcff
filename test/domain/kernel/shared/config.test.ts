import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigError,
  internalUrlOf,
  mocksHostOf,
  parseConfig,
  publicUrlOf,
  SETTINGS,
} from '../../../../domain/kernel/settings/config.ts';

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
  [{ ...needed, CRM_API_VERSION_MAX: '68' }, 'CRM_API_VERSION_MAX is malformed: must be like 68.0'],
  [{ ...needed, CRM_SCRATCH_AUTH_FIELD: 'a b' }, 'CRM_SCRATCH_AUTH_FIELD is malformed: must be the name of a field'],
  [{ ...needed, NODE_ENV: 'production' }, 'ENCRYPTION_KEYS is missing; in production no key is invented'],
])('%p is refused by one sentence', (env, sentence) => {
  expect(() => parseConfig(env)).toThrow(ConfigError);
  expect(() => parseConfig(env)).toThrow(sentence);
});

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-secrets-'));
  const file = join(folder, 'database-url');
  writeFileSync(file, 'postgres://in-a-file/quayside\n');
  writeFileSync(join(folder, 'empty'), '\n');
  const { TEMPORAL_ADDRESS } = needed;
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is read without the line break behind it', () => {
    const config = parseConfig({ TEMPORAL_ADDRESS, DATABASE_URL_FILE: file });
    expect(config.DATABASE_URL).toBe('postgres://in-a-file/quayside');
  });

  test.each([
    [{ ...needed, DATABASE_URL_FILE: file }, 'Set either DATABASE_URL or DATABASE_URL_FILE, not both.'],
    [
      { TEMPORAL_ADDRESS, DATABASE_URL_FILE: join(folder, 'none') },
      'The file that DATABASE_URL_FILE names cannot be read: ENOENT.',
    ],
    [{ ...needed, SMTP_URL_FILE: join(folder, 'empty') }, 'The file that SMTP_URL_FILE names is empty.'],
    [{ ...needed, TOKEN_KEYS_FILE: folder }, 'The file that TOKEN_KEYS_FILE names cannot be read: EISDIR.'],
  ])('%p is refused by one sentence', (env, sentence) => {
    expect(() => parseConfig(env)).toThrow(new ConfigError(sentence));
  });

  test('every setting that says so in its name may be one', () => {
    const secrets = SETTINGS.filter((name) => /(SECRET|KEYS|DATABASE_URL|SMTP_URL)$/.test(name));
    for (const name of secrets)
      expect(() => parseConfig({ ...needed, [name]: undefined, [`${name}_FILE`]: join(folder, 'none') })).toThrow(
        `${name}_FILE`,
      );
  });
});

test('the public address ends without a slash and carries the base path', () => {
  const config = parseConfig({ ...needed, PUBLIC_URL: 'https://release.example/', BASE_PATH: '/quayside' });
  expect(internalUrlOf(config)).toBe('https://release.example/quayside');
  expect(internalUrlOf({ ...config, INTERNAL_URL: 'http://quayside-api' })).toBe('http://quayside-api/quayside');
  expect(publicUrlOf(config)).toBe('https://release.example/quayside');
});

test.each([
  ['http://127.0.0.1:3000/', {}],
  ['https://release.example', { PUBLIC_URL: 'https://release.example' }],
  ['http://Release.example.:443/', { PUBLIC_URL: 'https://release.example/x' }],
])('MOCKS_URL %s is not the host of the service: %p', (MOCKS_URL, urls) => {
  expect(() => parseConfig({ ...needed, ...urls, MOCKS_URL })).toThrow(
    'The environment variable MOCKS_URL must name another host or port than PUBLIC_URL.',
  );
});

test('mocks answer at the host of MOCKS_URL alone, wherever INTERNAL_URL leads', () => {
  const MOCKS_URL = 'https://MOCKS.example.:443';
  const PUBLIC_URL = 'https://release.example';
  for (const INTERNAL_URL of [undefined, PUBLIC_URL, 'http://quayside-api'])
    expect(mocksHostOf(parseConfig({ ...needed, PUBLIC_URL, MOCKS_URL, INTERNAL_URL }))).toBe('mocks.example');
  expect(() => parseConfig({ ...needed, PUBLIC_URL, MOCKS_URL, INTERNAL_URL: 'http://mocks.example' })).toThrow(
    'The environment variable MOCKS_URL must name another host or port than INTERNAL_URL.',
  );
  expect(mocksHostOf(parseConfig({ ...needed, PUBLIC_URL }))).toBeUndefined();
});

test('docs/operations/settings.md lists each setting once', () => {
  const lines = readFileSync('docs/operations/settings.md', 'utf8').split('\n');
  const cells = lines.map((line) => /^\|((?:\s*`[A-Z_]+`,?)+)\s*\|/.exec(line)?.[1] ?? '');
  const listed = cells.flatMap((cell) => cell.match(/[A-Z_]+/g) ?? []);
  expect(SETTINGS.filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name, index) => listed.indexOf(name) !== index)).toEqual([]);
});
