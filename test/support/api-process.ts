import { freePort } from './free-port.ts';
import type { TestApp } from './app.ts';
import { startProcess, type TestProcess } from './process.ts';

/** A real API process on the app's database, beside the one inside the test; resolves when it listens. */
export async function startApi(app: TestApp, env: Record<string, string> = {}): Promise<TestProcess & { url: string }> {
  const port = String(await freePort());
  const running = await startProcess('api', { ...app.env, PORT: port, ...env });
  return { ...running, url: `http://127.0.0.1:${port}` };
}
