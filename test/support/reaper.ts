import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Stops servers when this process ends without stopping them itself, even by SIGKILL: a shell that waits on a pipe
 * which closes then. Answers how to dismiss it.
 */
export function startReaper({ pids, folder }: { pids: readonly number[]; folder: string }): () => void {
  const script = 'read -r _ && exit; kill -QUIT "$@"; sleep 1; rm -rf "$FOLDER"';
  const reaper = spawn('sh', ['-c', script, 'reaper', ...pids.map(String)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, FOLDER: folder },
  });
  reaper.unref();
  (reaper.stdin as unknown as Socket).unref();
  return () => void reaper.stdin.end('dismissed\n');
}
