import { isPortFree } from '../../tools/ports.ts';

/**
 * A port of loopback that nothing listens on. It is below those that the system gives to outgoing connections, one of
 * which could take it before the server that it is for.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isPortFree(port)) return port;
  }
}
