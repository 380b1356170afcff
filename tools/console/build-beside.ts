import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BUILD = fileURLToPath(new URL('../build-console.ts', import.meta.url));
const VITE = new URL('../../node_modules/vite', import.meta.url);
/** Written last, and so what the service goes by. */
const MARK = new URL('../../console/dist/.sources', import.meta.url);

/**
 * Builds the console, if it is out of date, in a process beside the start of the service; answers whether there is one. What
 * fails is said, and the service runs without it.
 */
export async function buildConsoleBeside(say: (line: string) => void): Promise<boolean> {
  // Where only what runs is installed, the console came with it.
  if (!existsSync(VITE)) return existsSync(MARK);
  const child = spawn(process.execPath, [BUILD], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const code = await new Promise<number | null>((resolve) =>
    child.on('close', resolve).on('error', () => resolve(null)),
  );
  if (code !== 0) say(`The console could not be built, and an older one is served if there is one.\n${said.trim()}`);
  return existsSync(MARK);
}
