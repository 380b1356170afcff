import { UntrustedJson } from '../../../domain/kernel/json/untrusted-json-rules.ts';
import type { ChangedFilesList } from '../../../domain/code/pull-requests/changed-files-rules.ts';
import { readMergeRequest, reviewsOf } from '../../../domain/code/pull-requests/host-c-pull-request-rules.ts';
import type { ListOrder, PullRequestHost } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import type { ExchangeWithHost, HostAccess } from './host-http.ts';
import {
  changedAndOpen,
  changedFiles,
  PAGE_SIZE,
  type PagesAnswer,
  readPage,
  readPages,
} from './pull-requests-answers.ts';

const NAME = 'host-c';

/** GitLab's REST interface, version 4: lists of merge requests, their reviewers, differences, commits of a comparison. */
export function createPullRequestsHostC(exchange: ExchangeWithHost, { baseUrl, token }: HostAccess): PullRequestHost {
  const headers = { 'private-token': token };
  const project = (repository: string) => `${baseUrl}/projects/${encodeURIComponent(repository)}`;

  const pages = (order: ListOrder, criteria: string): Promise<PagesAnswer> => {
    const query = `scope=all&with_labels_details=true&order_by=updated_at&sort=desc&${criteria}&per_page=${PAGE_SIZE}`;
    return readPages(exchange, NAME, order, {
      headers,
      urlOf: (page) => `${project(order.repository)}/merge_requests?${query}&page=${page}`,
      reportOf: readMergeRequest,
    });
  };

  return {
    list: (order) =>
      changedAndOpen(
        order,
        (given) => pages(given, `updated_after=${encodeURIComponent(given.since)}`),
        (given) => pages(given, 'state=opened'),
      ),

    async reviews({ repository, number }) {
      const url = `${project(repository)}/merge_requests/${number}/reviewers`;
      const answer = await readPage(exchange, NAME, { url, headers });
      if (!answer.isOk) return answer;
      return { isOk: true, value: reviewsOf(answer.value.items ?? [], (each) => each.at('user')) };
    },

    async compare({ repository, number, baseBranch, headSha }) {
      const files = await changedFiles(
        (page) =>
          readPage(exchange, NAME, {
            url: `${project(repository)}/merge_requests/${number}/diffs?per_page=${PAGE_SIZE}&page=${page}`,
            headers,
          }),
        addDiff,
      );
      if (!files.isOk) return files;
      const commits = async (from: string, to: string): Promise<number | null> => {
        const query = `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
        const url = `${project(repository)}/repository/compare?${query}`;
        const answer = await exchange(NAME, { method: 'GET', url, headers, acceptedStatuses: [404] });
        const counted = answer.isOk ? new UntrustedJson(answer.value.json).at('commits') : undefined;
        return counted?.isList() ? counted.items(10_000).length : null;
      };
      const [ahead, behind] = [await commits(baseBranch, headSha), await commits(headSha, baseBranch)];
      return { isOk: true, value: { files: files.value, ahead, behind } };
    },
  };
}

function addDiff(list: ChangedFilesList, diff: UntrustedJson): void {
  const [before, after] = [diff.at('old_path').text(4_000), diff.at('new_path').text(4_000)];
  if (diff.at('renamed_file').isTrue() && before !== null) list.add('deleted', before);
  if (diff.at('deleted_file').isTrue()) {
    if (before !== null) list.add('deleted', before);
  } else if (after !== null) {
    const isNew = diff.at('new_file').isTrue() || diff.at('renamed_file').isTrue();
    list.add(isNew ? 'added' : 'modified', after);
  }
}
