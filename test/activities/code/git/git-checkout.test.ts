import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { createGitMirrors } from '../../../../activities/adapters/git/git-mirrors.ts';
import type { CheckoutOrder } from '../../../../domain/code/git/mirror/git-mirrors.port.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { newRepository, type TestRepository } from '../../../support/repository.ts';

const { signal } = new AbortController();
let remote: TestRepository;
let folder: string;
beforeEach(() => {
  remote = newRepository();
  folder = mkdtempSync(join(tmpdir(), 'quayside-checkout-'));
});
afterEach(() => {
  remote.remove();
  rmSync(folder, { recursive: true, force: true });
});

const blob = (text: string) => remote.git(['hash-object', '-w', '--stdin'], text);
/** A commit of entries as git keeps them, whatever they are called. */
function commitOf(entries: [mode: string, path: string, text: string][]): string {
  const lines = entries.map(([mode, path, text]) =>
    mode === '160000' ? `${mode} commit ${text}\t${path}\0` : `${mode} blob ${blob(text)}\t${path}\0`,
  );
  const tree = remote.git(['mktree', '-z'], lines.join(''));
  const commit = remote.git([
    '-c',
    'user.name=Dana',
    '-c',
    'user.email=dana@example.com',
    'commit-tree',
    tree,
    '-m',
    'files',
  ]);
  remote.git(['update-ref', 'refs/heads/main', commit]);
  return commit;
}

async function checkout(sha: string, order: Partial<CheckoutOrder> = {}) {
  const mirrors = createGitMirrors({
    folder: join(folder, 'mirrors'),
    allowLocal: true,
    addresses: outboundAddresses('127.0.0.0/8'),
    log: pino({ enabled: false }),
  });
  const mirror = { tenantId: newId(), projectId: newId() };
  const at = { url: remote.path, credential: undefined };
  await expect(mirrors.fetch(mirror, at, signal)).resolves.toEqual({ outcome: 'fetched' });
  const files = join(folder, 'files');
  mkdirSync(files);
  const nothing = { isLeftOut: () => false, whyTooLarge: () => undefined };
  return mirrors.checkout(mirror, at, { ...nothing, sha, folder: files, ...order }, signal);
}

test('regular files are written, whatever they are called; links, submodules and unwritable names are not', async () => {
  const sha = commitOf([
    ['100644', 'plain.js', 'one'],
    ['100755', 'line\nbreak.js', 'two'],
    ['100644', 'tab\t"quote" %0A.js', 'three'],
    ['120000', 'passwords', '/etc/passwd'],
    ['120000', 'up', '../../..'],
    ['160000', 'module', 'a'.repeat(40)],
    ['100644', 'ünïcode – ✓.js', 'four'],
  ]);
  await expect(checkout(sha)).resolves.toEqual({ isOk: true, files: 4, leftOut: 3, bytes: 15 });
  const names = readdirSync(join(folder, 'files'));
  expect(names.toSorted()).toEqual(['plain.js', 'line\nbreak.js', 'tab\t"quote" %0A.js', 'ünïcode – ✓.js'].toSorted());
  for (const name of names) expect(lstatSync(join(folder, 'files', name)).isFile()).toBe(true);
  expect(readFileSync(join(folder, 'files', 'line\nbreak.js'), 'utf8')).toBe('two');
});

test('what is left out, and what is too large, is not written', async () => {
  const sha = commitOf([
    ['100644', 'a.js', 'x'.repeat(1_000)],
    ['100644', 'b.js', 'y'.repeat(1_000)],
  ]);
  const order = { isLeftOut: (path: string) => path === 'a.js' };
  await expect(checkout(sha, order)).resolves.toEqual({ isOk: true, files: 1, leftOut: 1, bytes: 1_000 });
  expect(existsSync(join(folder, 'files/a.js'))).toBe(false);
});

test.each([
  ['files', ({ files }: { files: number }) => (files > 1 ? 'too many' : undefined), 'too many'],
  ['bytes', ({ bytes }: { bytes: number }) => (bytes > 1_500 ? 'too large' : undefined), 'too large'],
])('a commit beyond the limit of %s is refused', async (_, whyTooLarge, reason) => {
  const sha = commitOf([
    ['100644', 'a.js', 'x'.repeat(1_000)],
    ['100644', 'b.js', 'y'.repeat(1_000)],
  ]);
  await expect(checkout(sha, { whyTooLarge })).resolves.toEqual({ isOk: false, reason });
  expect(readdirSync(join(folder, 'files'))).toEqual([]);
});

test('a commit that the mirror lacks is refused', async () => {
  commitOf([['100644', 'a.js', 'x']]);
  const sha = 'b'.repeat(40);
  await expect(checkout(sha)).resolves.toEqual({ isOk: false, reason: `The repository has no commit ${sha}` });
});
