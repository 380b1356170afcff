import { finished } from 'node:stream/promises';
import { Agent, request } from 'undici';
import { type MetricsStore, type StoreAnswer, TENANT_LABEL } from '../../domain/metrics/metrics-store.port.ts';

/** The store itself ends a query in time; the answer needs some time more. */
const GRACE_MS = 1_000;
const WRITE_TIMEOUT_MS = 20_000;
const CHECK_TIMEOUT_MS = 1_500;
const WINDOW = '5m0s';

/** The other side closed a connection that stood: by its end, as a rule. */
const isLoss = (error: unknown): boolean => {
  const { code } = error as { code?: string };
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
};

/** @param url root of VictoriaMetrics' interface, as the operator configured it. */
export function createMetricsStore(url: string): MetricsStore {
  const root = url.replace(/\/$/, '');
  const agent = new Agent({ connections: 32, connect: { timeout: 2_000 } });
  const fenceOf = (tenantId: string) => `${TENANT_LABEL}=${tenantId}`;
  const get = async (path: string) => {
    const { statusCode, body } = await request(root + path, {
      dispatcher: agent,
      signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the metrics store answered ${statusCode}`);
    return text;
  };
  return {
    async write(tenantId, lines) {
      const { statusCode, body } = await request(
        `${root}/api/v1/import?extra_label=${encodeURIComponent(fenceOf(tenantId))}`,
        { dispatcher: agent, method: 'POST', body: lines, signal: AbortSignal.timeout(WRITE_TIMEOUT_MS) },
      );
      const text = await body.text();
      if (statusCode >= 300) throw new Error(`the metrics store answered ${statusCode}: ${text.slice(0, 200)}`);
    },
    async read(tenantId, what, parameters, { timeoutMs, signal }): Promise<StoreAnswer> {
      const clock = AbortSignal.timeout(timeoutMs + GRACE_MS);
      const form = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value]));
      form.set('timeout', `${timeoutMs}ms`);
      form.set('extra_label', fenceOf(tenantId));
      form.set('extra_filters[]', `{${TENANT_LABEL}="${tenantId}"}`);
      try {
        const { statusCode, body } = await request(`${root}/api/v1/${what}`, {
          dispatcher: agent,
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: form.toString(),
          signal: AbortSignal.any([signal, clock]),
        });
        const end = finished(body).then(
          () => 'ended' as const,
          (error: unknown) => (isLoss(error) ? 'lost' : 'ended'),
        );
        return { outcome: 'answered', status: statusCode, body, end };
      } catch (error) {
        if (clock.aborted) return { outcome: 'timeout' };
        return { outcome: isLoss(error) ? 'lost' : 'away' };
      }
    },
    async startedAt() {
      const { statusCode, body } = await request(`${root}/metrics`, {
        dispatcher: agent,
        signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
      });
      const text = await body.text();
      if (statusCode >= 500) throw new Error(`the metrics store answered ${statusCode}`);
      const [, seconds] = /^process_start_time_seconds (\d+)/m.exec(text) ?? [];
      return seconds === undefined ? undefined : Number(seconds);
    },
    async check() {
      await get('/health');
    },
    async problem() {
      const flags = await get('/flags').catch(() => undefined);
      if (flags === undefined || flags.includes(`-dedup.minScrapeInterval="${WINDOW}"`)) return undefined;
      return 'The metrics store that METRICS_URL names does not keep one sample of each five minutes: start it with -dedup.minScrapeInterval=5m.';
    },
    close: () => agent.destroy(),
  };
}
