import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bodyLimitBytes } from '../api/http/server/request-body.ts';
import type { AnyRoute } from '../api/http/define-route.ts';
import { routes } from '../api/routes.ts';
import { quantile } from './figures.ts';
import type { HostileRequest } from './hostile-sender.ts';
import { beginProbes } from './probes.ts';
import { startService } from './service.ts';

/**
 * Measures how long `GET /healthz` takes while one connection sends the worst bodies that it can make: to every route
 * that anybody may call, and with a credential to those whose bodies are the most open. Options: `--seconds 3` per body,
 * `--only <part of an operation id>`.
 */
const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, only: { type: 'string', default: '' } },
});
const PROBE_EVERY_MS = 4;
const GUARDED = new Set([
  'saveDocument',
  'saveDocuments',
  'queryDocuments',
  'saveReleaseCandidate',
  'startFlowRun',
  'triggerWebhooks',
  'createWebhook',
]);

const many = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(',');
const filled = (size: number, text: string): string => text.repeat(Math.max(0, Math.floor(size / text.length)));

/** Bodies of up to `size` bytes with up to `members` members, each the worst of its kind. */
function worstBodies(size: number, members: number): Record<string, string> {
  const each = Math.floor(size / members) - 20;
  return {
    '400,000 keys': `{${many(Math.min(400_000, Math.floor(size / 14)), (n) => `"k${n}":1`)}}`,
    'all keys allowed': `{${many(Math.min(members, Math.floor(size / 20)) - 9, (n) => `"k${n}":"${filled(each, 'x')}"`)}}`,
    'all elements allowed': `{"a":[${many(Math.min(members, Math.floor(size / 20)) - 9, () => '{}')}]}`,
    'one name again and again': `{${many(Math.floor(size / 6) - 1, () => '"a":1')}}`,
    'nested without end': filled(size, '['),
    'nested and wide': `{"a":[${many(Math.floor(Math.min(members, size / 2) / 100) - 1, () => '['.repeat(90) + ']'.repeat(90))}]}`,
    'escaped characters': `{"a":"${filled(size - 20, '\\u00e9')}"}`,
    'escaped quotes': `{"a":"${filled(size - 20, '\\"')}"}`,
    'one long number': `{"a":1${filled(size - 20, '0')}1}`,
    'one long fraction': `{"a":0.1${filled(size - 20, '0')}1}`,
    'white space': `${filled(size - 4, ' ')}{}`,
    'characters of three bytes': `{"a":"${filled(Math.floor((size - 20) / 3), '漢')}"}`,
    __proto__: `{"__proto__":{${many(Math.min(members, Math.floor(size / 20)) - 9, (n) => `"__proto${n}__":1`)}}}`,
  };
}

const mapped = (bodies: Record<string, string>, make: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(bodies).map(([name, text]) => [name, make(text)]));

/** As the route takes them, so that they are refused as late as can be, or not at all. */
function bodiesFor(route: AnyRoute): Record<string, string> {
  const size = bodyLimitBytes(route) - 100;
  if (route.takesDocuments !== true) return worstBodies(size, 50_000);
  if (route.operationId === 'saveDocument') {
    return {
      ...mapped(worstBodies(size, 250_000), (text) => `{"value":${text}}`),
      ...Object.fromEntries(
        Object.entries(worstBodies(1_000_000, 240_000)).map(([name, text]) => [`1 MB: ${name}`, `{"value":${text}}`]),
      ),
    };
  }
  const batch = (text: string) =>
    `{"documents":[${many(4, (n) => `{"collection":"hostile","key":"k${n}","value":${text}}`)}]}`;
  return mapped(worstBodies(1_000_000, 60_000), batch);
}

const service = await startService([]);
const { port } = new URL(service.url);

async function measure(request: Omit<HostileRequest, 'untilMs'>) {
  const untilMs = Date.now() + Number(options.seconds) * 1_000;
  const workerData: HostileRequest = { ...request, untilMs };
  const sender = new Worker(new URL('hostile-sender.ts', import.meta.url), { workerData });
  const answered = once(sender, 'message') as Promise<[Record<string, number>]>;
  const probes = beginProbes(port, PROBE_EVERY_MS);
  const [statuses] = await answered;
  const times = (await probes.end()).toSorted((a, b) => a - b);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), max: times.at(-1) ?? 0, statuses };
}

/** What makes a route read a body at all. */
function headersOf(route: AnyRoute): Record<string, string> {
  return {
    'content-type': route.bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
    ...(route.operationId === 'receiveHook' && { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
    ...(route.roles !== 'public' && { authorization: `Bearer ${service.ownerToken}` }),
  };
}

const pathOf = ({ path }: AnyRoute): string => path.replace('{host}', 'host-a').replaceAll(/\{\w+\}/g, 'hostile');

const row = (name: string, body: string, ...cells: string[]) =>
  console.log(name.padEnd(22), body.padEnd(28), ...cells.map((cell) => cell.padStart(8)));

try {
  row('operation', 'body', 'p50 ms', 'p99 ms', 'max ms', 'answers');
  const chosen = routes.filter(
    ({ roles, body, operationId }) =>
      body && (roles === 'public' || GUARDED.has(operationId)) && operationId.includes(options.only),
  );
  for (const route of chosen) {
    for (const [name, text] of Object.entries(bodiesFor(route))) {
      const url = service.url + pathOf(route);
      const body = Buffer.from(text);
      const { p50, p99, max, statuses } = await measure({
        url,
        method: route.method.toUpperCase(),
        headers: headersOf(route),
        body,
      });
      const answers = Object.entries(statuses).map(([status, count]) => `${count}×${status}`);
      row(route.operationId, name, p50.toFixed(1), p99.toFixed(1), max.toFixed(1), answers.join(' '));
    }
  }
} finally {
  await service.stop();
}
