import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a server could listen there now. */
export const isPortFree = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });

/** A port that is free now. */
export const anyFreePort = (host = '127.0.0.1'): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Whether somebody accepts connections there within `timeoutMs`. */
export const accepts = (host: string, port: number, timeoutMs = 2_000): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.setTimeout(timeoutMs, () => answer(false));
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });

/** Waits until somebody accepts connections; rejects after `timeoutMs`, or as soon as `isGone` says that nobody will. */
export async function untilAccepting(port: number, timeoutMs: number, isGone: () => boolean): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await accepts('127.0.0.1', port))) {
    if (isGone()) throw new Error('it ended before it was ready');
    if (Date.now() > deadline) throw new Error(`it was not ready after ${Math.round(timeoutMs / 1000)} s`);
    await sleep(25);
  }
}
