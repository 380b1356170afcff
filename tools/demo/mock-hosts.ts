import type { DemoClient } from './client.ts';
import { counted } from './changes.ts';
import type { Say } from './collaborate.ts';
import { waitFor } from './wait.ts';

interface Step {
  seq: number;
  request: { method: string; path: string; body?: unknown };
  response: Record<string, unknown> & { status: number };
  times: number | null;
}
interface Call {
  calledAt: string;
  outcome: string;
  seq: number | null;
  method: string;
  path: string;
  status: number | null;
}
interface Report {
  calls: { matched: number; unmatched: number; recorded: number };
  steps: { total: number; used: number; unused: Step[] };
  unmatched: { method: string; path: string; count: number }[];
}
interface Upstreams {
  upstream: string;
  upstreams?: { prefix: string; upstream: string }[];
}

const NAME = 'release';
const QUIET_MS = 2_500;
const SETTLED_MS = 60_000;
const SHOWN = 10;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** A recorded stand-in for some hosts. */
export interface MockHosts {
  what: string;
  baseUrl: string;
  /** Waits until no call has come for some time. */
  settle: () => Promise<void>;
  /** Ends the recording, and adapts the steps to what differs each time. */
  stop: () => Promise<void>;
  arm: () => Promise<void>;
  /** To the beginning. */
  rewind: () => Promise<void>;
  /** Lets the first answer to such a request be 503, the second what was recorded. */
  failOnce: (method: string, path: RegExp) => Promise<void>;
  slow: (method: string, path: RegExp, delayMs: number) => Promise<void>;
  sayReport: () => Promise<void>;
  /** Says the calls of such a request, with the time after the first of them. */
  sayCalls: (method: string, path: RegExp) => Promise<void>;
  remove: () => Promise<void>;
}

/** Begins to record hosts in a workspace of their own. */
export async function recordHosts(
  api: DemoClient,
  { what, workspace, ...hosts }: Upstreams & { what: string; workspace: string },
  say: Say,
): Promise<MockHosts> {
  const root = `/api/mocks/workspaces/${workspace}/scenarios`;
  const { baseUrl } = await api.post(root, { name: NAME, ...hosts });
  const at = `${root}/${NAME}`;
  const stepsOf = async () => (await api.get(at)).steps as Step[];
  const callsOf = async () => (await api.get(`${at}/calls?limit=1000`)).items as Call[];
  const stepFor = async (method: string, path: RegExp): Promise<Step> => {
    const found = (await stepsOf()).find(({ request }) => request.method === method && path.test(request.path));
    if (!found) throw new Error(`${what}: no step for ${method} ${path}`);
    return found;
  };
  const put = (seq: number, { request, response, times }: Omit<Step, 'seq'>) =>
    api.put(`${at}/steps/${seq}`, { request, response, times });
  let rewoundAt = 0;
  return {
    what,
    baseUrl: baseUrl as string,
    async settle() {
      let [count, since] = [-1, Date.now()];
      await waitFor(
        async () => ((await api.get(`${at}/calls?limit=1`)).total as number) ?? 0,
        (total) => {
          if (total !== count) [count, since] = [total, Date.now()];
          return Date.now() - since > QUIET_MS;
        },
        SETTLED_MS,
      );
    },
    async stop() {
      await api.post(`${at}/stop`, {});
      const steps = await stepsOf();
      const ofRun = steps.filter(({ request }) => ID.test(JSON.stringify(request.body ?? '')));
      for (const { seq, request, ...step } of ofRun) {
        const { body: _, ...rest } = request;
        await put(seq, { ...step, request: rest });
      }
      const isRead = ({ request: { method } }: Step) => method === 'GET';
      const reads = new Map(steps.filter(isRead).map((step) => [JSON.stringify(step.request), step]));
      for (const { seq, ...step } of reads.values()) await put(seq, { ...step, times: null });
      say(`  ${what}: ${counted(steps.length, 'step')} recorded`);
      say(`    what is read, also by sweeps at any time, is answered again as it was last: ${reads.size} of them`);
      if (ofRun.length > 0)
        say(
          `    bodies that name the run are not compared, as its id is another one each time: ${ofRun.length} of them`,
        );
    },
    arm: async () => void (await api.post(`${at}/arm`, {})),
    async rewind() {
      rewoundAt = Date.parse((await api.post(`${at}/rewind`, {})).updatedAt as string);
    },
    async failOnce(method, path) {
      const { seq, request, response, times } = await stepFor(method, path);
      const last = Math.max(...(await stepsOf()).map((step) => step.seq));
      await put(last + 1, { request, response, times });
      await put(seq, { request, response: { status: 503, headers: { 'retry-after': '1' } }, times: 1 });
      say(`  ${what}: step ${seq}, ${method} ${request.path}, answers 503 once; step ${last + 1} has its answer`);
    },
    async slow(method, path, delayMs) {
      const { seq, request, response, times } = await stepFor(method, path);
      await put(seq, { request, response: { ...response, delayMs }, times });
      say(`  ${what}: step ${seq}, ${method} ${request.path}, takes ${delayMs} ms`);
    },
    async sayReport() {
      const { calls, steps, unmatched } = (await api.get(`${at}/report`)) as unknown as Report;
      say(
        `  ${what}: ${calls.matched} matched, ${calls.unmatched} unmatched; ${steps.used} of ${counted(steps.total, 'step')} used`,
      );
      for (const { method, path, count } of unmatched.slice(0, SHOWN))
        say(`    unmatched: ${count} × ${method} ${path}`);
      for (const { seq, ...step } of steps.unused.slice(0, SHOWN)) {
        const { method, path } = step as unknown as { method: string; path: string };
        say(`    unused: step ${seq}, ${method} ${path}`);
      }
    },
    async sayCalls(method, path) {
      const calls = (await callsOf())
        .filter((call) => Date.parse(call.calledAt) >= rewoundAt && call.method === method && path.test(call.path))
        .toSorted((a, b) => Date.parse(a.calledAt) - Date.parse(b.calledAt));
      const [first] = calls;
      for (const { calledAt, status, seq, path: called } of calls)
        say(
          `  ${what}: ${method} ${called} answered ${status ?? '-'} by step ${seq ?? '-'}, after ${Date.parse(calledAt) - Date.parse(first?.calledAt ?? '')} ms`,
        );
    },
    remove: async () => void (await api.delete(at)),
  };
}
