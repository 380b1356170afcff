import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import type { CalendarSource } from '../../../domain/orgs/org-maintenance/calendar-source.port.ts';
import { wholeBytes } from '../../../domain/kernel/shared/whole-bytes.ts';
import { createOutboundHttp, headerOf, type OutboundFailure } from '../outbound/outbound-http.ts';

const BYTES_MAX = 1024 * 1024;
const TIMEOUT_MS = 20_000;
const ETAG_MAX = 500;

const REASONS: Record<OutboundFailure['kind'], string> = {
  refused: 'Its address is not permitted',
  nowhere: 'It leads elsewhere without end',
  timeout: `Its host did not answer within ${TIMEOUT_MS / 1_000} seconds`,
  too_large: 'It is larger than 1 MiB',
  broken: 'Its host could not be reached',
};

/** Reads calendars over HTTP, at permitted addresses. */
export function createCalendarSource(addresses: HostAddresses): CalendarSource & { close: () => Promise<void> } {
  const http = createOutboundHttp(addresses);
  return {
    async read(url, { etag, signal }) {
      const call = {
        url,
        headers: { accept: 'text/calendar', ...(etag !== null && { 'if-none-match': etag }) },
        followsRedirects: true,
        timeoutMs: TIMEOUT_MS,
        maxBytes: BYTES_MAX,
        signal,
      };
      const answer = await http.send(call, async ({ status, headers, body }) => ({
        status,
        etag: headerOf(headers, 'etag') ?? null,
        text: status === 200 ? Buffer.from(await wholeBytes(body)).toString('utf8') : '',
      }));
      if (!answer.isOk) return { isOk: false, reason: REASONS[answer.kind] };
      const { status, text, etag: current } = answer.value;
      if (status === 304 && etag !== null) return { isOk: true, value: 'unchanged' };
      if (status !== 200) return { isOk: false, reason: `Its host answered ${status}` };
      return { isOk: true, value: { text, etag: current !== null && current.length <= ETAG_MAX ? current : null } };
    },
    close: http.close,
  };
}
