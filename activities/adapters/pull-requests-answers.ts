import { UntrustedJson } from '../../domain/builds/untrusted-json-rules.ts';
import type { HostAnswer } from '../../domain/git-hosts/git-host.port.ts';
import type { PullRequestReport } from '../../domain/pull-requests/pull-request-rules.ts';
import type { ExchangeWithHost, HostReply } from './host-http.ts';

/** A page of 100 pull requests with all that hosts say of each. */
const PAGE_MAX_BYTES = 16 * 1_048_576;

interface ListCall {
  url: string;
  headers: Record<string, string>;
  acceptedStatuses?: readonly number[];
  signal?: AbortSignal;
}

export interface ListPage {
  /** Undefined: nothing has changed since the `if-none-match` of the call. */
  items: UntrustedJson[] | undefined;
  headers: HostReply['headers'];
}

/**
 * One page of a list. A reply that is none, as a sign-in page or an error page that comes as success, is a failure.
 * @param listIn finds the list in the reply.
 */
export async function readPage(
  exchange: ExchangeWithHost,
  name: string,
  { signal, ...call }: ListCall,
  listIn: (json: UntrustedJson) => UntrustedJson = (json) => json,
): Promise<HostAnswer<ListPage>> {
  signal?.throwIfAborted();
  const answer = await exchange(name, { method: 'GET', maxBytes: PAGE_MAX_BYTES, ...call });
  if (!answer.isOk) return answer;
  const { status, headers, json } = answer.value;
  if (status === 304) return { isOk: true, value: { items: undefined, headers } };
  const list = listIn(new UntrustedJson(json));
  if (list.isList()) return { isOk: true, value: { items: list.items(), headers } };
  return {
    isOk: false,
    isTransient: true,
    mayBeDone: false,
    reason: `${name} answered ${status} with something else than a list`,
  };
}

/** A header of which a reply has one. */
export const headerOf = (headers: HostReply['headers'], name: string): string | null =>
  [headers[name]].flat()[0] ?? null;

/** The most pages of a list: 3,000 pull requests. */
export const PAGES_MAX = 30;
export const PAGE_SIZE = 100;

/** Of several of one pull request the latest change, and of those the first. */
export function distinct(reports: readonly PullRequestReport[]): PullRequestReport[] {
  const byNumber = new Map<number, PullRequestReport>();
  for (const report of reports) {
    const other = byNumber.get(report.number);
    if (!other || report.hostTime > other.hostTime) byNumber.set(report.number, report);
  }
  return [...byNumber.values()];
}

export const newestOf = (reports: readonly PullRequestReport[]): string | null =>
  reports.reduce<string | null>(
    (newest, { changedAt }) => (newest === null || changedAt > newest ? changedAt : newest),
    null,
  );
