import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFile, ensureBundle } from '../../activities/workflow-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-bundles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a bundle is made once, by several at a time, and another one for workers that export traces', async () => {
  const plain = { folder: join(folder, 'new'), isTraced: false };
  const [file] = await Promise.all([ensureBundle(plain), ensureBundle(plain)]);
  expect(file).toBe(bundleFile(plain));
  const { mtimeMs } = statSync(file);
  await expect(ensureBundle(plain)).resolves.toBe(file);
  expect(statSync(file).mtimeMs).toBe(mtimeMs);

  const traced = await ensureBundle({ ...plain, isTraced: true });
  expect(traced).not.toBe(file);
  expect(readFileSync(traced, 'utf8')).toContain('OpenTelemetryInboundInterceptor');
  expect(readFileSync(file, 'utf8')).not.toContain('OpenTelemetryInboundInterceptor');
});

test('a bundle that cannot be made is an error', async () => {
  await expect(ensureBundle({ folder: '/dev/null/none', isTraced: false })).rejects.toThrow('could not be bundled');
});
