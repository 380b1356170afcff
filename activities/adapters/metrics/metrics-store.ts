import { finished } from 'node:stream/promises';
import {
  type MetricsStore,
  MetricsStoreAwayError,
  type StoreAnswer,
  TENANT_LABEL,
} from '../../../domain/insight/metrics/metrics-store.port.ts';
import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import type { ReportAway } from '../../../domain/kernel/system/outages.ts';
import { createOutboundHttp, outboundFailure, type OutboundFailure } from '../outbound/outbound-http.ts';

/** The store itself ends a query in time; the answer needs some time more. */
const GRACE_MS = 1_000;
const WRITE_TIMEOUT_MS = 20_000;
const CHECK_TIMEOUT_MS = 1_500;
const REPLY_MAX_BYTES = 16 * 1_048_576;
const WINDOW = '5m0s';

interface RequestOptions {
  method?: 'POST';
  body?: string;
}

/** The other side closed a connection that stood: by its end, as a rule. */
const isLoss = ({ code }: Pick<OutboundFailure, 'code'>): boolean => code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';

/**
 * @param url root of VictoriaMetrics' interface, as the operator configured it.
 * @param onAway is told each time that it is found away.
 */
export function createMetricsStore(url: string, onAway: ReportAway = () => undefined): MetricsStore {
  const root = url.replace(/\/$/, '');
  const http = createOutboundHttp(undefined, { connections: 32, connect: { timeout: 2_000 } });
  const fenceOf = (tenantId: string) => `${TENANT_LABEL}=${tenantId}`;
  const away = (cause: unknown) => {
    const error = new MetricsStoreAwayError('no answer', { cause });
    onAway(error);
    return error;
  };
  /** Answers a status below 500. */
  const call = async (path: string, options: RequestOptions, timeoutMs: number) => {
    const sent = { ...options, url: root + path, timeoutMs, maxBytes: REPLY_MAX_BYTES };
    const answer = await http.send(sent, async ({ status, body }) => ({
      status,
      text: String(await wholeBytes(body)),
    }));
    if (!answer.isOk) throw away(answer);
    if (answer.value.status >= 500) throw away(new Error(`It answered ${answer.value.status}`));
    return answer.value;
  };
  const get = async (path: string) => {
    const { status, text } = await call(path, {}, CHECK_TIMEOUT_MS);
    if (status !== 200) throw away(new Error(`It answered ${status} at ${path}`));
    return text;
  };
  return {
    async write(tenantId, lines) {
      const path = `/api/v1/import?extra_label=${encodeURIComponent(fenceOf(tenantId))}`;
      const { status, text } = await call(path, { method: 'POST', body: lines }, WRITE_TIMEOUT_MS);
      if (status >= 300) throw new Error(`the metrics store answered ${status}: ${text.slice(0, 200)}`);
    },
    async read(tenantId, what, parameters, { timeoutMs, signal }): Promise<StoreAnswer> {
      const form = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value]));
      form.set('timeout', `${timeoutMs}ms`);
      form.set('extra_label', fenceOf(tenantId));
      form.set('extra_filters[]', `{${TENANT_LABEL}="${tenantId}"}`);
      const answer = await http.open({
        method: 'POST',
        url: `${root}/api/v1/${what}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
        timeoutMs: timeoutMs + GRACE_MS,
        maxBytes: Number.POSITIVE_INFINITY,
        signal,
      });
      if (!answer.isOk) {
        // One that cannot be connected to is away, however long the query may take.
        if (answer.kind === 'timeout' && answer.code !== 'UND_ERR_CONNECT_TIMEOUT') return { outcome: 'timeout' };
        if (isLoss(answer)) return { outcome: 'lost' };
        if (!signal.aborted) away(answer);
        return { outcome: 'away' };
      }
      const { status, stream: body } = answer.value;
      const end = finished(body).then(
        () => 'ended' as const,
        (error: unknown) => (isLoss(outboundFailure(error)) ? 'lost' : 'ended'),
      );
      return { outcome: 'answered', status, body, end };
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
    close: http.close,
  };
}
