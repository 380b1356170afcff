import { newId } from '../../domain/kernel/shared/ids.ts';
import type { TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';

interface Written {
  path: string;
  n: number;
}

/**
 * A pipeline that writes documents, reports events and reads, until it is stopped. What the service answers with 5xx it
 * sends again; what was accepted has to be there to the end.
 */
export function load(app: TestApp) {
  const pipeline = app.as(app.application);
  const collection = `load-${newId()}`;
  const stop = new AbortController();
  const written: Written[] = [];
  const unavailable: number[] = [];
  const failures: unknown[] = [];
  let rounds = 0;

  const send = async (status: number, method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await pipeline.send(method, path, { body });
    if (answer.status >= 500) unavailable.push(answer.status);
    else if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    else if (method === 'POST' && path.includes('/docs/')) written.push({ path, n: rounds });
  };
  const round = async (n: number): Promise<void> => {
    await send(201, 'POST', `/api/doc-store/collections/${collection}/docs/${n}`, { value: { n } });
    await send(202, 'POST', '/api/webhooks/trigger', { event: 'load', payload: { n } });
    await send(200, 'GET', '/api/projects');
    await send(200, 'GET', '/api/flows/runs');
  };
  const done = (async () => {
    for (; !stop.signal.aborted; rounds++) await round(rounds);
  })().catch((error: unknown) => failures.push(error));

  return {
    /** Waits for so many rounds more. @param options.isMigrated from now on nothing may be answered with 5xx. */
    async goesOn(more: number, { isMigrated = false } = {}): Promise<void> {
      const [from, unavailableBefore] = [rounds, unavailable.length];
      await eventually(
        async () => rounds,
        (made) => made >= from + more || failures.length > 0,
      );
      expect(failures).toEqual([]);
      if (isMigrated) expect(unavailable.slice(unavailableBefore)).toEqual([]);
    },
    async stop(): Promise<void> {
      stop.abort();
      await done;
      for (const { path, n } of written) expect((await pipeline.get(200, path)).value).toEqual({ n });
    },
  };
}
