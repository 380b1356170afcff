import { UntrustedJson } from '../../domain/builds/untrusted-json-rules.ts';
import { ChangedFilesList, FILES_MAX } from '../../domain/pull-requests/changed-files-rules.ts';
import { readMergeRequest, reviewsOf } from '../../domain/pull-requests/host-c-pull-request-rules.ts';
import type { ListOrder, PullRequestHost, PullRequestList } from '../../domain/pull-requests/pull-request-host.port.ts';
import type { PullRequestReport } from '../../domain/pull-requests/pull-request-rules.ts';
import type { HostAnswer } from '../../domain/git-hosts/git-host.port.ts';
import type { ExchangeWithHost, HostAccess } from './host-http.ts';
import { distinct, headerOf, newestOf, PAGE_SIZE, PAGES_MAX, readPage } from './pull-requests-answers.ts';

const NAME = 'host-c';

/** GitLab's REST interface, version 4: lists of merge requests, their reviewers, differences, commits of a comparison. */
export function createPullRequestsHostC(exchange: ExchangeWithHost, { baseUrl, token }: HostAccess): PullRequestHost {
  const headers = { 'private-token': token };
  const project = (repository: string) => `${baseUrl}/projects/${encodeURIComponent(repository)}`;

  async function pages(
    { repository, etag, signal }: ListOrder,
    criteria: string,
  ): Promise<HostAnswer<Omit<PullRequestList, 'readUntil'> | null>> {
    const reports: PullRequestReport[] = [];
    let firstEtag: string | null = null;
    const order = 'scope=all&with_labels_details=true&order_by=updated_at&sort=desc';
    for (let page = 1; page <= PAGES_MAX; page++) {
      const answer = await readPage(exchange, NAME, {
        url: `${project(repository)}/merge_requests?${order}&${criteria}&per_page=${PAGE_SIZE}&page=${page}`,
        headers: { ...headers, ...(page === 1 && etag !== null && { 'if-none-match': etag }) },
        acceptedStatuses: page === 1 && etag !== null ? [304] : [],
        signal,
      });
      if (!answer.isOk) return answer;
      const { items } = answer.value;
      if (!items) return { isOk: true, value: null };
      if (page === 1) firstEtag = headerOf(answer.value.headers, 'etag');
      reports.push(...items.flatMap((item) => readMergeRequest(item) ?? []));
      if (items.length < PAGE_SIZE) return { isOk: true, value: { reports, isCut: false, etag: firstEtag } };
    }
    return { isOk: true, value: { reports, isCut: true, etag: firstEtag } };
  }

  return {
    async list(order) {
      const changed = await pages(order, `updated_after=${encodeURIComponent(order.since)}`);
      if (!changed.isOk || changed.value === null) return changed as HostAnswer<null>;
      const open = order.withAllOpen ? await pages({ ...order, etag: null }, 'state=opened') : undefined;
      if (open && (!open.isOk || open.value === null)) return open as HostAnswer<null>;
      const reports = distinct([...(open?.value?.reports ?? []), ...changed.value.reports]);
      const isCut = changed.value.isCut || open?.value?.isCut === true;
      return {
        isOk: true,
        value: { reports, isCut, readUntil: newestOf(changed.value.reports), etag: changed.value.etag },
      };
    },

    async reviews({ repository, number }) {
      const url = `${project(repository)}/merge_requests/${number}/reviewers`;
      const answer = await readPage(exchange, NAME, { url, headers });
      if (!answer.isOk) return answer;
      return { isOk: true, value: reviewsOf(answer.value.items ?? [], (each) => each.at('user')) };
    },

    async compare({ repository, number, baseBranch, headSha }) {
      const list = new ChangedFilesList();
      for (let page = 1; page <= FILES_MAX / PAGE_SIZE + 1; page++) {
        const url = `${project(repository)}/merge_requests/${number}/diffs?per_page=${PAGE_SIZE}&page=${page}`;
        const answer = await readPage(exchange, NAME, { url, headers });
        if (!answer.isOk) return answer;
        const items = answer.value.items ?? [];
        for (const item of items) addDiff(list, item);
        if (items.length < PAGE_SIZE || list.files.truncated) break;
      }
      const commits = async (from: string, to: string): Promise<number | null> => {
        const query = `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
        const url = `${project(repository)}/repository/compare?${query}`;
        const answer = await exchange(NAME, { method: 'GET', url, headers, acceptedStatuses: [404] });
        const counted = answer.isOk ? new UntrustedJson(answer.value.json).at('commits') : undefined;
        return counted?.isList() ? counted.items(10_000).length : null;
      };
      const [ahead, behind] = [await commits(baseBranch, headSha), await commits(headSha, baseBranch)];
      return { isOk: true, value: { files: list.files, ahead, behind } };
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
