import { UntrustedJson } from '../../../domain/kernel/json/untrusted-json-rules.ts';
import type { HostAnswer } from '../../../domain/code/git-hosts/git-host.port.ts';
import { ChangedFilesList, FILES_MAX } from '../../../domain/code/pull-requests/changed-files-rules.ts';
import type { ListOrder, PullRequestList } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import type { PullRequestReport } from '../../../domain/code/pull-requests/pull-request-rules.ts';
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

/** One report for each pull request: that of the latest change, and of reports with the same change the first. */
export function distinct(reports: readonly PullRequestReport[]): PullRequestReport[] {
  const byNumber = new Map<number, PullRequestReport>();
  for (const report of reports) {
    const other = byNumber.get(report.number);
    if (!other || report.hostTime > other.hostTime) byNumber.set(report.number, report);
  }
  return [...byNumber.values()];
}

/** What pages of a list hold; null: nothing has changed since the `etag` of the order. */
export type PagesAnswer = HostAnswer<Omit<PullRequestList, 'readUntil'> | null>;

interface PagesCall {
  headers: Record<string, string>;
  urlOf: (page: number) => string;
  /** Null: no pull request. */
  reportOf: (item: UntrustedJson) => PullRequestReport | null;
  /** The list has the newest change first, and is read until one that changed before; absent: to its end. */
  since?: string | undefined;
}

/** The pages of a list, from 1. Where the order has an `etag`, a list that has not changed since costs one call. */
export async function readPages(
  exchange: ExchangeWithHost,
  name: string,
  { etag, signal }: ListOrder,
  { headers, urlOf, reportOf, since = '' }: PagesCall,
): Promise<PagesAnswer> {
  const found: PullRequestReport[] = [];
  let firstEtag: string | null = null;
  for (let page = 1; page <= PAGES_MAX; page++) {
    const isConditional = page === 1 && etag !== null;
    const answer = await readPage(exchange, name, {
      url: urlOf(page),
      headers: { ...headers, ...(isConditional && { 'if-none-match': etag }) },
      acceptedStatuses: isConditional ? [304] : [],
      signal,
    });
    if (!answer.isOk) return answer;
    const { items } = answer.value;
    if (!items) return { isOk: true, value: null };
    if (page === 1) firstEtag = headerOf(answer.value.headers, 'etag');
    const reports = items.flatMap((item) => reportOf(item) ?? []);
    found.push(...reports.filter(({ changedAt }) => changedAt >= since));
    const isLast = items.length < PAGE_SIZE || reports.some(({ changedAt }) => changedAt < since);
    if (isLast) return { isOk: true, value: { reports: found, isCut: false, etag: firstEtag } };
  }
  return { isOk: true, value: { reports: found, isCut: true, etag: firstEtag } };
}

/** The list of what has changed and, where the order asks for them, of all that are open. */
export async function changedAndOpen(
  order: ListOrder,
  readChanged: (order: ListOrder) => Promise<PagesAnswer>,
  readOpen: (order: ListOrder) => Promise<PagesAnswer>,
): Promise<HostAnswer<PullRequestList | null>> {
  const changed = await readChanged(order);
  if (!changed.isOk) return changed;
  if (changed.value === null) return { isOk: true, value: null };
  const open = order.withAllOpen ? await readOpen({ ...order, etag: null }) : undefined;
  if (open && !open.isOk) return open;
  // Read later, the list of the open ones counts; what changed in between comes with the next list.
  const reports = distinct([...(open?.value?.reports ?? []), ...changed.value.reports]);
  const isCut = changed.value.isCut || open?.value?.isCut === true;
  return {
    isOk: true,
    value: { reports, isCut, readUntil: newestOf(changed.value.reports), etag: changed.value.etag },
  };
}

/**
 * The changed files of a pull request, page by page, as many as are kept.
 * @param read one page, from 1. @param add adds what an entry says to the files.
 */
export async function changedFiles(
  read: (page: number) => Promise<HostAnswer<ListPage>>,
  add: (list: ChangedFilesList, entry: UntrustedJson) => void,
): Promise<HostAnswer<ChangedFilesList['files']>> {
  const list = new ChangedFilesList();
  for (let page = 1; page <= FILES_MAX / PAGE_SIZE + 1; page++) {
    const answer = await read(page);
    if (!answer.isOk) return answer;
    const items = answer.value.items ?? [];
    for (const item of items) add(list, item);
    if (items.length < PAGE_SIZE || list.files.truncated) break;
  }
  return { isOk: true, value: list.files };
}

const newestOf = (reports: readonly PullRequestReport[]): string | null =>
  reports.reduce<string | null>(
    (newest, { changedAt }) => (newest === null || changedAt > newest ? changedAt : newest),
    null,
  );
