import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createGitMirrors } from '../../../../activities/adapters/git/git-mirrors.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { generateHistory, newRepository, type TestRepository } from '../../../support/repository.ts';

let remote: TestRepository;
const folder = mkdtempSync(`${tmpdir()}/quayside-mirrors-`);
const mirror = { tenantId: newId(), projectId: newId() };
const mirrors = createGitMirrors({
  folder,
  allowLocal: true,
  addresses: outboundAddresses(''),
  log: pino({ level: 'silent' }),
});

beforeAll(async () => {
  remote = newRepository();
  generateHistory(remote, { commits: 80, packages: 3 });
  remote.commit({ branch: 'alone', from: null, files: { 'größer/ein Name\n"x"': '1' } });
  const { signal } = new AbortController();
  await mirrors.fetch(mirror, { url: remote.path, credential: undefined }, signal);
});
afterAll(() => {
  remote.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function comparison(base: string, head: string) {
  const paths: string[] = [];
  const counts = await mirrors.compare(mirror, { base, head }, (change, path) => paths.push(`${change} ${path}`));
  return { counts, paths: paths.toSorted() };
}

test('commits and paths between any two commits are those that git itself tells', async () => {
  const all = remote.lines(['rev-list', 'main']);
  const pairs = all.flatMap((head, index) => {
    const base = all[(index * 7 + 3) % all.length];
    return index % 6 === 0 && base !== undefined ? [{ base, head }] : [];
  });
  expect(pairs.length).toBeGreaterThan(10);
  for (const { base, head } of pairs) {
    const { counts, paths } = await comparison(base, head);
    expect(counts).toEqual({
      ahead: remote.lines(['rev-list', `${base}..${head}`]).length,
      behind: remote.lines(['rev-list', `${head}..${base}`]).length,
    });
    const letters: Record<string, string> = { A: 'added', D: 'deleted' };
    const told = remote.lines(['diff', '--no-renames', '--name-status', `${base}...${head}`]).map((line) => {
      const [letter = '', path] = line.split('\t');
      return `${letters[letter] ?? 'modified'} ${path}`;
    });
    expect(paths).toEqual(told.toSorted());
  }
});

test('a history apart differs as it is, and what the mirror lacks is no comparison', async () => {
  const [main = '', alone = ''] = remote.lines(['rev-parse', 'main', 'alone']);
  const { counts, paths } = await comparison(main, alone);
  expect(counts).toMatchObject({ ahead: 1 });
  expect(paths).toContain('added größer/ein Name\n"x"');
  await expect(comparison(main, 'f'.repeat(40))).resolves.toEqual({ counts: undefined, paths: [] });
  const unknown = { tenantId: newId(), projectId: newId() };
  await expect(mirrors.compare(unknown, { base: main, head: alone }, () => undefined)).resolves.toBeUndefined();
});

test('the lines that differ between two commits are those of the head, whatever files are named and hold', async () => {
  const odd = 'größer/ein Name/B.trigger';
  const base = remote.commit({
    branch: 'lines',
    from: null,
    files: { 'A.cls': 'a\nb\nc\n', [odd]: '1\n2\n', 'C.txt': '1', 'Gone.cls': 'x\n' },
  });
  const head = remote.commit({
    branch: 'lines',
    files: { 'A.cls': 'a\n++ b/x\n@@ -1 +1 @@\nc\nd', [odd]: '1\n2\n3\n', 'C.txt': '2', 'Gone.cls': null },
  });
  const { signal } = new AbortController();
  const access = { url: remote.path, credential: undefined };
  await mirrors.fetch(mirror, access, signal);
  for (const [index, sha] of [base, head].entries()) {
    const order = {
      sha,
      folder: join(folder, `checkout-${index}`),
      isLeftOut: () => false,
      whyTooLarge: () => undefined,
    };
    mkdirSync(order.folder);
    expect(await mirrors.checkout(mirror, access, order, signal)).toMatchObject({ isOk: true });
  }
  const lines: [string, number, number][] = [];
  const paths = ['A.cls', odd, 'Gone.cls', ...Array.from({ length: 300 }, (_, index) => `${index}/*.cls`)];
  await mirrors.changedLines(mirror, { base, head, paths }, (...each) => lines.push(each));
  expect(lines).toEqual([
    ['A.cls', 2, 2],
    ['A.cls', 5, 1],
    [odd, 3, 1],
  ]);
});
