import { UntrustedJson } from '../../domain/builds/untrusted-json-rules.ts';
import { ChangedFilesList, FILES_MAX, type FileChange } from '../../domain/pull-requests/changed-files-rules.ts';
import { readPullRequestA, readReviewA } from '../../domain/pull-requests/host-a-pull-request-rules.ts';
import type { ListOrder, PullRequestHost, PullRequestList } from '../../domain/pull-requests/pull-request-host.port.ts';
import { type PullRequestReport, type Reviews, withReviews } from '../../domain/pull-requests/pull-request-rules.ts';
import type { HostAnswer } from '../../domain/git-hosts/git-host.port.ts';
import type { ExchangeWithHost, HostAccess } from './host-http.ts';
import { distinct, headerOf, newestOf, PAGE_SIZE, PAGES_MAX, readPage } from './pull-requests-answers.ts';

const NAME = 'host-a';
const VERSION = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
const CHANGES: Readonly<Record<string, FileChange>> = { added: 'added', copied: 'added', removed: 'deleted' };

/** GitHub's REST interface: lists of pull requests, reviews, files, comparisons. */
export function createPullRequestsHostA(exchange: ExchangeWithHost, { baseUrl, token }: HostAccess): PullRequestHost {
  const headers = { ...VERSION, authorization: `Bearer ${token}` };
  const repo = (repository: string) => `${baseUrl}/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;

  /** Newest change first, until one that changed before `since`. */
  async function pages(
    { repository, etag, signal }: ListOrder,
    state: 'open' | 'all',
    since: string,
  ): Promise<HostAnswer<Omit<PullRequestList, 'readUntil'> | null>> {
    const found: PullRequestReport[] = [];
    let firstEtag: string | null = null;
    for (let page = 1; page <= PAGES_MAX; page++) {
      const query = `state=${state}&sort=updated&direction=desc&per_page=${PAGE_SIZE}&page=${page}`;
      const answer = await readPage(exchange, NAME, {
        url: `${repo(repository)}/pulls?${query}`,
        headers: { ...headers, ...(page === 1 && etag !== null && { 'if-none-match': etag }) },
        acceptedStatuses: page === 1 && etag !== null ? [304] : [],
        signal,
      });
      if (!answer.isOk) return answer;
      const { items } = answer.value;
      if (!items) return { isOk: true, value: null };
      if (page === 1) firstEtag = headerOf(answer.value.headers, 'etag');
      const reports = items.flatMap((item) => readPullRequestA(item) ?? []);
      found.push(...reports.filter(({ changedAt }) => changedAt >= since));
      const isLast = items.length < PAGE_SIZE || reports.some(({ changedAt }) => changedAt < since);
      if (isLast) return { isOk: true, value: { reports: found, isCut: false, etag: firstEtag } };
    }
    return { isOk: true, value: { reports: found, isCut: true, etag: firstEtag } };
  }

  return {
    async list(order) {
      const changed = await pages(order, 'all', order.since);
      if (!changed.isOk || changed.value === null) return changed as HostAnswer<null>;
      const open = order.withAllOpen ? await pages({ ...order, etag: null }, 'open', '') : undefined;
      if (open && (!open.isOk || open.value === null)) return open as HostAnswer<null>;
      // Read later, the list of the open ones counts; what changed in between comes with the next list.
      const reports = distinct([...(open?.value?.reports ?? []), ...changed.value.reports]);
      const isCut = changed.value.isCut || open?.value?.isCut === true;
      const readUntil = newestOf(changed.value.reports);
      return { isOk: true, value: { reports, isCut, readUntil, etag: changed.value.etag } };
    },

    async reviews({ repository, number }) {
      let reviews: Reviews = {};
      for (let page = 1; page <= 3; page++) {
        const url = `${repo(repository)}/pulls/${number}/reviews?per_page=${PAGE_SIZE}&page=${page}`;
        const answer = await readPage(exchange, NAME, { url, headers });
        if (!answer.isOk) return answer;
        const items = answer.value.items ?? [];
        for (const item of items) reviews = withReviews(reviews, readReviewA(item));
        if (items.length < PAGE_SIZE) break;
      }
      return { isOk: true, value: reviews };
    },

    async compare({ repository, number, baseBranch, headSha }) {
      const list = new ChangedFilesList();
      for (let page = 1; page <= FILES_MAX / PAGE_SIZE + 1; page++) {
        const url = `${repo(repository)}/pulls/${number}/files?per_page=${PAGE_SIZE}&page=${page}`;
        const answer = await readPage(exchange, NAME, { url, headers });
        if (!answer.isOk) return answer;
        const items = answer.value.items ?? [];
        for (const item of items) addFile(list, item);
        if (items.length < PAGE_SIZE || list.files.truncated) break;
      }
      // The first page of a comparison has the texts of all changes.
      const url = `${repo(repository)}/compare/${encodeURIComponent(baseBranch)}...${headSha}?per_page=1&page=2`;
      const answer = await exchange(NAME, { method: 'GET', url, headers, acceptedStatuses: [404] });
      if (!answer.isOk) return answer;
      const comparison = new UntrustedJson(answer.value.json);
      const [ahead, behind] = [comparison.at('ahead_by').integer(), comparison.at('behind_by').integer()];
      return { isOk: true, value: { files: list.files, ahead, behind } };
    },
  };
}

function addFile(list: ChangedFilesList, file: UntrustedJson): void {
  const path = file.at('filename').text(4_000);
  if (path === null) return;
  const status = file.at('status').text() ?? '';
  if (status !== 'renamed') return list.add(CHANGES[status] ?? 'modified', path);
  const before = file.at('previous_filename').text(4_000);
  if (before !== null) list.add('deleted', before);
  list.add('added', path);
}
