import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FlakyTest, noteFlaky } from '../../tools/flaky-tests.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-flaky-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FOUND: FlakyTest = {
  file: 'test/a.test.ts',
  test: 'works',
  at: '2026-11-23T20:00:00.000Z',
  load: 3.5,
  cpu: 1.2,
  digest: '0123456789abcdef',
  message: 'not there',
};

test('a test that was written down before is told, until its file changes', () => {
  const file = join(folder, 'kept', 'flaky.json');
  expect(noteFlaky([FOUND], file)).toEqual([]);
  expect(noteFlaky([{ ...FOUND, test: 'works, too' }], file)).toEqual([]);
  expect(noteFlaky([FOUND, { ...FOUND, digest: 'fedcba9876543210' }], file)).toEqual([FOUND]);
});
