import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleFile, ensureBundle } from '../../activities/workflow-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-bundles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a bundle is made once, by several at a time, and another one for workers that export traces', async () => {
  const traced = { folder: join(folder, 'new'), isTraced: true };
  const [file] = await Promise.all([ensureBundle(traced), ensureBundle(traced)]);
  expect(file).toBe(bundleFile(traced));
  const { mtimeMs } = statSync(file);
  await expect(ensureBundle(traced)).resolves.toBe(file);
  expect(statSync(file).mtimeMs).toBe(mtimeMs);
  expect(readFileSync(file, 'utf8')).toContain('OpenTelemetryInboundInterceptor');

  // The run has made the other one before its first test, unless it was kept from an earlier run.
  const made = process.env.QS_TEST_BUNDLE ?? '';
  await expect(ensureBundle({ folder: dirname(made), isTraced: false })).resolves.toBe(made);
  expect(readFileSync(made, 'utf8')).not.toContain('OpenTelemetryInboundInterceptor');
});

test('a bundle that cannot be made is an error', async () => {
  await expect(ensureBundle({ folder: '/dev/null/none', isTraced: false })).rejects.toThrow('could not be bundled');
});
