import { speedProblems } from '../../tools/test-speed-rules.ts';

test.each([
  'const began = performance.now(); await work(); expect(performance.now() - began).toBeLessThan(500);',
  'const began = Date.now(); await work(); const tookMs = Date.now() - began; expect(tookMs).toBeLessThanOrEqual(500);',
  'const took = async () => { const at = Date.now(); await work(); return Date.now() - at; }; expect(await took()).toBeLessThan(9);',
  'const from = performance.now(); const to = performance.now(); expect(to - from).toBeLessThan(9);',
  'expect(Date.parse(row.expiresAt) - Date.now()).toBeGreaterThan(170_000);',
  'await hold({ expiresAt: new Date(Date.now() + 2_000) });',
  "test('soon', async () => {}, 60_000);",
  "test.each([1])('%i soon', async () => {}, 15_000);",
  'beforeAll(async () => {}, 60_000);',
])('%s depends on the machine', (text) => {
  expect(speedProblems('a.test.ts', text)).toEqual([expect.stringMatching(/^a\.test\.ts:1 /)]);
});

test.each([
  'const began = performance.now(); await work(); expect(performance.now() - began).toBeGreaterThan(500);',
  'const before = process.threadCpuUsage(); work(); expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);',
  'expect(Date.parse(row.expiresAt) - Date.now()).toBeLessThanOrEqual(180_000);',
  'await hold({ expiresAt: new Date(Date.now() + 3_600_000) });',
  "test('long', async () => {}, 600_000);",
  'expect(rows.length - 1).toBeLessThan(500);',
])('%s does not', (text) => {
  expect(speedProblems('a.test.ts', text)).toEqual([]);
});
