import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';

/** PgBouncer in front of a database, in transaction mode. */
export interface Pooler {
  url: string;
  /** Ends its connections to the server, so that the next ones read the settings of their role anew. */
  dropConnections: () => Promise<void>;
  stop: () => Promise<void>;
}

/** The program, when it is installed. */
export function findPooler(): string | undefined {
  try {
    return execFileSync('sh', ['-c', 'PATH=$PATH:/usr/sbin command -v pgbouncer'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

/** @param user of the pooler and of the server. */
export async function startPooler(
  program: string,
  { server, user }: { server: URL; user: { name: string; password: string } },
): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-pooler-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  writeFileSync(join(folder, 'users.txt'), `"${user.name}" "${user.password}"\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${server.hostname} port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${join(folder, 'users.txt')}`,
      `admin_users = ${user.name}`,
      'pool_mode = transaction',
      'ignore_startup_parameters = options',
      '',
    ].join('\n'),
  );
  // It refuses to run as root.
  const asNobody = userInfo().uid === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(program, [...asNobody, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
  await untilListening(child, port);
  return {
    url: `postgres://127.0.0.1:${port}${server.pathname}`,
    async dropConnections() {
      const client = new pg.Client(`postgres://${user.name}:${user.password}@127.0.0.1:${port}/pgbouncer`);
      await client.connect();
      await client.query('reconnect');
      await client.end();
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    const client = new pg.Client(`postgres://nobody@127.0.0.1:${port}/none`);
    const answer = await client.connect().then(
      () => 'in',
      (error: NodeJS.ErrnoException) => error.code,
    );
    await client.end().catch(() => undefined);
    if (answer !== 'ECONNREFUSED') return;
    await sleep(20);
  }
}
