import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { createFolderObjectStore } from '../../activities/adapters/objects/folder-object-store.ts';
import { createGitMirrors } from '../../activities/adapters/git/git-mirrors.ts';
import { outboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';

// Runs in a mount namespace of its own, with a small file system at the folder: `full-disk.ts <folder> <small repository>
// <repository that does not fit>`. Prints what happened as JSON.
const [disk = '', small = '', large = ''] = process.argv.slice(2);
const mirror = { tenantId: 'tenant', projectId: 'project' };
const { signal } = new AbortController();
const mirrors = createGitMirrors({
  folder: join(disk, 'git'),
  allowLocal: true,
  addresses: outboundAddresses(''),
  log: pino({ level: 'silent' }),
});
const objects = createFolderObjectStore(join(disk, 'objects'));
const fetchFrom = (url: string) => mirrors.fetch(mirror, { url, credential: undefined }, signal);
const content = async function* (pieces: number) {
  for (let piece = 0; piece < pieces; piece++) yield Buffer.alloc(65_536, piece);
};
const put = (key: string, pieces: number) =>
  objects.put(key, content(pieces), 'application/octet-stream').then(
    ({ sizeBytes }) => sizeBytes,
    (error: NodeJS.ErrnoException) => error.code,
  );
const unfinished = () =>
  (readdirSync(disk, { recursive: true }) as string[]).filter((name) => /tmp_|\.lock$|\.drafts\//.test(name));

const first = await fetchFrom(small);
const refs = await mirrors.refs(mirror);
const kept = await put('kept', 1);
const full = await fetchFrom(large);
const afterFull = { refs: await mirrors.refs(mirror), unfinished: unfinished() };
const tooLarge = await put('too-large', 64);
const afterTooLarge = {
  kept: await objects.sizeOf('kept'),
  size: await objects.sizeOf('too-large'),
  unfinished: unfinished(),
};
const again = await fetchFrom(small);
execFileSync('mount', ['-o', 'remount,size=64m', disk]);
const withSpace = {
  fetched: await fetchFrom(large),
  stored: await put('too-large', 64),
  refs: await mirrors.refs(mirror),
};
process.stdout.write(JSON.stringify({ first, refs, kept, full, afterFull, tooLarge, afterTooLarge, again, withSpace }));
