import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import S3rver from 's3rver';
import { createObjectStore } from '../../../../activities/adapters/objects/object-store.ts';
import { objectKey } from '../../../../domain/kernel/objects/object-key-rules.ts';
import type { ObjectStore } from '../../../../domain/kernel/objects/object-store.port.ts';
import { objectStoreLocation } from '../../../../domain/kernel/objects/object-store-location.ts';
import { ConfigError } from '../../../../domain/kernel/settings/config.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'quayside-objects-'));
const folder = join(DATA_DIR, 'folder');
let s3: S3rver;
const stores: Record<string, ObjectStore> = {};

beforeAll(async () => {
  s3 = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: join(DATA_DIR, 's3'),
    configureBuckets: [{ name: 'exports', configs: [] }],
  });
  const { port } = await s3.run();
  // What the server of the package takes as its only account.
  process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
  process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';
  const at = (OBJECT_STORE_URL: string) => createObjectStore(objectStoreLocation({ OBJECT_STORE_URL, DATA_DIR }));
  stores.folder = at(pathToFileURL(folder).href);
  stores.s3 = at(`s3://exports/quayside?endpoint=http://127.0.0.1:${port}`);
});
afterAll(async () => {
  await s3.close();
  rmSync(DATA_DIR, { recursive: true, force: true });
});

const inPieces = async function* (content: Buffer, sizeBytes = 64 * 1024) {
  for (let at = 0; at < content.length; at += sizeBytes) yield content.subarray(at, at + sizeBytes);
};
const whole = async (content: AsyncIterable<Uint8Array> | undefined) => {
  if (!content) return undefined;
  const pieces = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
};

describe.each(['folder', 's3'])('%s', (name) => {
  const store = () => stores[name] as ObjectStore;

  test('all keys are listed', async () => {
    const keys = ['exports', 'output'].map((kind) => objectKey('listed', kind, '1.csv'));
    for (const key of keys) await store().put(key, inPieces(Buffer.from('x')), 'text/csv');
    const found: string[] = [];
    for await (const key of store().keys()) found.push(key);
    expect(found.filter((key) => key.startsWith('listed/')).toSorted()).toEqual(keys);
  });

  // Beyond 5 MB an upload to S3 goes in parts.
  test.each([0, 1, 200_000, 12_000_000])('%d bytes come back as they were stored, and are measured', async (size) => {
    const content = randomBytes(size);
    const key = objectKey('tenant', 'exports', `of-${size}.bin`);
    const stored = await store().put(key, inPieces(content), 'text/csv');
    expect(stored).toEqual({ sizeBytes: size, sha256: createHash('sha256').update(content).digest('hex') });
    expect((await whole(await store().get(key)))?.equals(content)).toBe(true);
    expect(await store().sizeOf(key)).toBe(size);
  });

  test('what is stored again replaces what was there', async () => {
    const key = objectKey('tenant', 'again');
    for (const text of ['first, and longer', 'second'])
      await store().put(key, inPieces(Buffer.from(text)), 'text/plain');
    expect(String(await whole(await store().get(key)))).toBe('second');
  });

  test('a part comes alone', async () => {
    const key = objectKey('tenant', 'part');
    await store().put(key, inPieces(Buffer.from('0123456789')), 'text/plain');
    expect(String(await whole(await store().get(key, { start: 2, end: 4 })))).toBe('234');
    expect(String(await whole(await store().get(key, { start: 9, end: 9 })))).toBe('9');
  });

  test('what is removed or never was is not there', async () => {
    const key = objectKey('tenant', 'gone');
    await store().put(key, inPieces(Buffer.from('x')), 'text/plain');
    await store().remove(key);
    await store().remove(key);
    expect(await store().get(key)).toBeUndefined();
    expect(await store().sizeOf(key)).toBeUndefined();
  });

  test('content that breaks off leaves nothing, and what was there before', async () => {
    const key = objectKey('tenant', 'broken');
    await store().put(key, inPieces(Buffer.from('whole')), 'text/plain');
    const broken = async function* () {
      yield randomBytes(6_000_000);
      throw new Error('the source is gone');
    };
    await expect(store().put(key, broken(), 'text/plain')).rejects.toThrow('the source is gone');
    expect(String(await whole(await store().get(key)))).toBe('whole');
  });
});

test('files are readable by their owner alone, and no drafts stay', () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(readdirSync(join(folder, '.drafts'))).toEqual([]);
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});

test('what a writer that died left behind is removed once it is old, what is being written is not', async () => {
  const store = stores.folder as ObjectStore;
  const left = join(folder, '.drafts', 'left');
  writeFileSync(left, 'half of it');
  utimesSync(left, new Date(), new Date(Date.now() - 120_000));
  const slow = async function* () {
    yield Buffer.from('first, ');
    expect(await store.removeAbandoned(60_000)).toBe(1);
    yield Buffer.from('last');
  };
  await store.put(objectKey('tenant', 'slow'), slow(), 'text/plain');
  expect(String(await whole(await store.get(objectKey('tenant', 'slow'))))).toBe('first, last');
  expect(readdirSync(join(folder, '.drafts'))).toEqual([]);
});

test.each(['..', '.', '', 'a/b', 'a\\b', 'a\0', 'ä', 'x'.repeat(201)])('%j is no segment of a key', (segment) => {
  expect(() => objectKey('tenant', segment)).toThrow('cannot hold the segment');
});

test('without a setting objects are kept in the data directory', () => {
  expect(objectStoreLocation({ DATA_DIR: '/var/lib/quayside' })).toEqual({
    kind: 'folder',
    path: '/var/lib/quayside/objects',
  });
});

test.each(['https://example.com/x', 'file://host/path', 's3:///prefix', 's3:bucket'])(
  '%s is refused',
  (OBJECT_STORE_URL) => {
    expect(() => objectStoreLocation({ OBJECT_STORE_URL, DATA_DIR: '.data' })).toThrow(ConfigError);
  },
);
