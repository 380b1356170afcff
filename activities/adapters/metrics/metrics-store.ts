import { finished } from 'node:stream/promises';
import { Agent, request } from 'undici';
import {
  type MetricsStore,
  MetricsStoreAwayError,
  type StoreAnswer,
  TENANT_LABEL,
} from '../../../domain/insight/metrics/metrics-store.port.ts';
import type { ReportAway } from '../../../domain/kernel/system/outages.ts';

/** The store itself ends a query in time; the answer needs some time more. */
const GRACE_MS = 1_000;
const WRITE_TIMEOUT_MS = 20_000;
const CHECK_TIMEOUT_MS = 1_500;
const WINDOW = '5m0s';

interface RequestOptions {
  method?: 'POST';
  body?: string;
}

/** The other side closed a connection that stood: by its end, as a rule. */
const isLoss = (error: unknown): boolean => {
  const { code } = error as { code?: string };
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
};

/**
 * @param url root of VictoriaMetrics' interface, as the operator configured it.
 * @param onAway is told each time that it is found away.
 */
export function createMetricsStore(url: string, onAway: ReportAway = () => undefined): MetricsStore {
  const root = url.replace(/\/$/, '');
  const agent = new Agent({ connections: 32, connect: { timeout: 2_000 } });
  const fenceOf = (tenantId: string) => `${TENANT_LABEL}=${tenantId}`;
  const away = (cause: unknown) => {
    const error = new MetricsStoreAwayError('no answer', { cause });
    onAway(error);
    return error;
  };
  /** Answers a status below 500. */
  const call = async (path: string, options: RequestOptions, timeoutMs: number) => {
    let answer: { statusCode: number; text: string };
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const { statusCode, body } = await request(root + path, { ...options, dispatcher: agent, signal });
      answer = { statusCode, text: await body.text() };
    } catch (error) {
      throw away(error);
    }
    if (answer.statusCode >= 500) throw away(new Error(`It answered ${answer.statusCode}`));
    return answer;
  };
  const get = async (path: string) => {
    const { statusCode, text } = await call(path, {}, CHECK_TIMEOUT_MS);
    if (statusCode !== 200) throw away(new Error(`It answered ${statusCode} at ${path}`));
    return text;
  };
  return {
    async write(tenantId, lines) {
      const path = `/api/v1/import?extra_label=${encodeURIComponent(fenceOf(tenantId))}`;
      const { statusCode, text } = await call(path, { method: 'POST', body: lines }, WRITE_TIMEOUT_MS);
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
        if (isLoss(error)) return { outcome: 'lost' };
        if (!signal.aborted) away(error);
        return { outcome: 'away' };
      }
    },
    async startedAt() {
      const { text } = await call('/metrics', {}, CHECK_TIMEOUT_MS);
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
