import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newRepository, removeRepositories } from '../../../support/repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-disk-'));
const SCRIPT = fileURLToPath(new URL('../../../support/full-disk.ts', import.meta.url));
const NODE = `'${process.execPath}' --disable-warning=ExperimentalWarning '${SCRIPT}'`;
const onDisk = (command: string) => ['-rm', 'sh', '-c', `mount -t tmpfs -o size=1m tmpfs '${folder}' && ${command}`];

// Mounting takes a user namespace, which containers without privileges do not always have.
const canMount = spawnSync('unshare', onDisk('true')).status === 0;

afterAll(() => {
  removeRepositories();
  rmSync(folder, { recursive: true, force: true });
});

// A file system of its own needs a user namespace, which some machines forbid.
(canMount ? test : test.skip)(
  'a disk without space stops neither mirrors nor objects for good, and harms nothing that is there',
  async () => {
    const small = newRepository();
    const known = small.commit({ files: { a: '1' } });
    const large = newRepository();
    large.git(['fetch', '--quiet', small.path, 'main:main']);
    // Names, because a mirror holds no contents; random, because they are compressed.
    const names = Array.from({ length: 20_000 }, () => [`large/${randomBytes(40).toString('hex')}`, '1'] as const);
    const added = large.commit({ files: Object.fromEntries(names) });

    const { stdout } = await promisify(execFile)(
      'unshare',
      onDisk(`exec ${NODE} "$@"`).concat('sh', folder, small.path, large.path),
    );
    const main = (sha: string) => [{ kind: 'branch', name: 'main', sha }];
    expect(JSON.parse(stdout)).toEqual({
      first: { outcome: 'fetched' },
      refs: main(known),
      kept: 65_536,
      full: { outcome: 'failed', reason: 'There is no space left for the mirror' },
      afterFull: { refs: main(known), unfinished: [] },
      tooLarge: 'ENOSPC',
      afterTooLarge: { kept: 65_536, unfinished: [] },
      again: { outcome: 'fetched' },
      withSpace: { fetched: { outcome: 'fetched' }, stored: 64 * 65_536, refs: main(added) },
    });
  },
);
