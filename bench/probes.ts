import { Agent, get } from 'node:http';

/**
 * Asks `/healthz` at a fixed rate, whether or not the last one has been answered: otherwise a stall would count once. `end`
 * gives the waits in ms.
 */
export function beginProbes(port: string, everyMs: number) {
  const agent = new Agent({ keepAlive: true });
  const waits: Promise<number>[] = [];
  const probe = () =>
    new Promise<number>((resolve, reject) => {
      const startedAt = performance.now();
      get({ port, path: '/healthz', agent }, (response) => {
        response.resume().on('end', () => resolve(performance.now() - startedAt));
      }).on('error', reject);
    });
  const timer = setInterval(() => waits.push(probe()), everyMs);
  return {
    async end() {
      clearInterval(timer);
      const found = await Promise.all(waits);
      agent.destroy();
      return found;
    },
  };
}
