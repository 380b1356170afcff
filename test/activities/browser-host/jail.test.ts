import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { jailed } from '../../../activities/browser-host/chromium/jail.ts';
import { browserPrograms } from '../../support/local-browsers.ts';

/** A relay that is late, as on a busy machine: it begins when a file is there. */
const LATE = '#!/bin/sh\nuntil [ -e /profile/go ]; do sleep 0.02; done\nexec socat "$@"\n';
/** Says when it runs, and again for each line that it reads. */
const PROGRAM = 'while echo runs >&3 && read -r _ <&4; do :; done';

let folder: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quayside-jail-'));
  for (const name of ['policies', 'profile']) mkdirSync(join(folder, name));
});
afterEach(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

test('a jail says that its relay listens once it does, however late, and its program runs meanwhile', async () => {
  const { bubblewrap } = await browserPrograms();
  const [policies, profile, egress] = ['policies', 'profile', 'egress'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(join(profile, 'relay'), LATE);
  chmodSync(join(profile, 'relay'), 0o755);
  const server = createServer().listen(egress);
  await once(server, 'listening');
  const args = [...jailed('/bin/sh', '/profile/relay', { policies, profile, egress }), '-c', PROGRAM];
  child = spawn(bubblewrap ?? 'bwrap', args, { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe', 'pipe'] });
  const [says, told, relay] = child.stdio.slice(3) as unknown as [Readable, Writable, Readable];
  let said = '';
  relay.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(says, 'data');
  told.write('\n');
  await once(says, 'data');
  expect(said).toBe('');
  writeFileSync(join(profile, 'go'), '');
  // Its writers close the pipe: nobody of the jail holds it.
  await once(relay, 'close');
  expect(said).toBe('listens\n');
  server.close();
});
