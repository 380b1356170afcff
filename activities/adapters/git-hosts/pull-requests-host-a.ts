import { UntrustedJson } from '../../../domain/kernel/json/untrusted-json-rules.ts';
import type { ChangedFilesList, FileChange } from '../../../domain/code/pull-requests/changed-files-rules.ts';
import { readPullRequestA, readReviewA } from '../../../domain/code/pull-requests/host-a-pull-request-rules.ts';
import type { ListOrder, PullRequestHost } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import { type Reviews, withReviews } from '../../../domain/code/pull-requests/pull-request-rules.ts';
import type { ExchangeWithHost, HostAccess } from './host-http.ts';
import {
  changedAndOpen,
  changedFiles,
  PAGE_SIZE,
  type PagesAnswer,
  readPage,
  readPages,
} from './pull-requests-answers.ts';

const NAME = 'host-a';
const VERSION = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
const CHANGES: Readonly<Record<string, FileChange>> = { added: 'added', copied: 'added', removed: 'deleted' };

/** GitHub's REST interface: lists of pull requests, reviews, files, comparisons. */
export function createPullRequestsHostA(exchange: ExchangeWithHost, { baseUrl, token }: HostAccess): PullRequestHost {
  const headers = { ...VERSION, authorization: `Bearer ${token}` };
  const repo = (repository: string) => `${baseUrl}/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;

  const pages = (order: ListOrder, state: 'open' | 'all', since?: string): Promise<PagesAnswer> =>
    readPages(exchange, NAME, order, {
      headers,
      urlOf: (page) =>
        `${repo(order.repository)}/pulls?state=${state}&sort=updated&direction=desc&per_page=${PAGE_SIZE}&page=${page}`,
      reportOf: readPullRequestA,
      since,
    });

  return {
    list: (order) =>
      changedAndOpen(
        order,
        (given) => pages(given, 'all', given.since),
        (given) => pages(given, 'open'),
      ),

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
      const files = await changedFiles(
        (page) =>
          readPage(exchange, NAME, {
            url: `${repo(repository)}/pulls/${number}/files?per_page=${PAGE_SIZE}&page=${page}`,
            headers,
          }),
        addFile,
      );
      if (!files.isOk) return files;
      // The first page of a comparison has the texts of all changes.
      const url = `${repo(repository)}/compare/${encodeURIComponent(baseBranch)}...${headSha}?per_page=1&page=2`;
      const answer = await exchange(NAME, { method: 'GET', url, headers, acceptedStatuses: [404] });
      if (!answer.isOk) return answer;
      const comparison = new UntrustedJson(answer.value.json);
      const [ahead, behind] = [comparison.at('ahead_by').integer(), comparison.at('behind_by').integer()];
      return { isOk: true, value: { files: files.value, ahead, behind } };
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
