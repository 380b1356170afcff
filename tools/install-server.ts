import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { OperatorError } from './operator-error.ts';

export interface InstallOptions {
  /** Told of what the script says while it looks for the server or builds it. */
  onProgress?: (line: string) => void;
  /** Ends the search or the build. */
  signal?: AbortSignal;
}

/**
 * Makes sure that the server that a script starts is on this machine; the first time that may take minutes. Throws
 * `OperatorError` with what the script said last.
 */
export async function installServer(script: string, { onProgress, signal }: InstallOptions): Promise<void> {
  signal?.throwIfAborted();
  const running = spawn(script, ['--install-only'], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  // The compiler is a child of the script: the whole group has to go.
  const abort = () => {
    try {
      if (running.pid !== undefined) process.kill(-running.pid, 'SIGTERM');
    } catch {
      // It has just ended.
    }
  };
  signal?.addEventListener('abort', abort);
  let last = '';
  createInterface(running.stderr).on('line', (line) => {
    last = line;
    onProgress?.(line);
  });
  try {
    const code = await new Promise<number | null>((settle, reject) => {
      running.once('close', settle).once('error', reject);
    });
    signal?.throwIfAborted();
    if (code !== 0) throw new OperatorError(last || `${script} ended with exit code ${code}.`);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
