import { UntrustedJson } from '../../../domain/kernel/json/untrusted-json-rules.ts';
import { ChangedFilesList, FILES_MAX } from '../../../domain/code/pull-requests/changed-files-rules.ts';
import { readPullRequestB } from '../../../domain/code/pull-requests/host-b-pull-request-rules.ts';
import type { PullRequestHost } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import type { PullRequestReport } from '../../../domain/code/pull-requests/pull-request-rules.ts';
import type { HostAnswer } from '../../../domain/code/git-hosts/git-host.port.ts';
import type { ExchangeWithHost, HostAccess } from './host-http.ts';
import { distinct, headerOf, PAGE_SIZE, PAGES_MAX, readPage } from './pull-requests-answers.ts';

const NAME = 'host-b';
const VERSION = 'api-version=7.1';
/** Between the clocks of the host's servers; what is read twice counts once. */
const MARGIN_MS = 10 * 60_000;

/** Azure DevOps' REST interface: lists of pull requests with the votes of reviewers, changes of their iterations. */
export function createPullRequestsHostB(
  exchange: ExchangeWithHost,
  { baseUrl, token, username }: HostAccess,
): PullRequestHost {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}` };
  const place = (repository: string) => {
    const [organization = '', project = '', name = project] = repository.split('/').map(encodeURIComponent);
    const root = `${baseUrl}/${organization}/${project}`;
    return { git: `${root}/_apis/git/repositories/${name}`, webUrl: `${root}/_git/${name}` };
  };
  const valueOf = (json: UntrustedJson) => json.at('value');

  async function pages(
    repository: string,
    criteria: Record<string, string>,
    signal: AbortSignal,
  ): Promise<HostAnswer<{ reports: PullRequestReport[]; isCut: boolean; readAt: string }>> {
    const { git, webUrl } = place(repository);
    const reports: PullRequestReport[] = [];
    let readAt: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = Object.entries(criteria).map(
        ([name, value]) => `searchCriteria.${name}=${encodeURIComponent(value)}`,
      );
      const url = `${git}/pullrequests?${query.join('&')}&$top=${PAGE_SIZE}&$skip=${page * PAGE_SIZE}&${VERSION}`;
      const answer = await readPage(exchange, NAME, { url, headers, signal }, valueOf);
      if (!answer.isOk) return answer;
      const { items = [] } = answer.value;
      // A pull request has no time of its last change: the host's clock says when it was like this.
      const hostTime = new UntrustedJson(headerOf(answer.value.headers, 'date')).dateTime() ?? new Date().toISOString();
      readAt ??= hostTime;
      reports.push(...items.flatMap((item) => readPullRequestB(item, { hostTime, webUrl, isHook: false }) ?? []));
      if (items.length < PAGE_SIZE) return { isOk: true, value: { reports, isCut: false, readAt } };
    }
    return { isOk: true, value: { reports, isCut: true, readAt: readAt ?? '' } };
  }

  return {
    async list({ repository, since, signal }) {
      const minTime = new Date(Date.parse(since) - MARGIN_MS).toISOString();
      const ended = await pages(repository, { status: 'all', queryTimeRangeType: 'closed', minTime }, signal);
      if (!ended.isOk) return ended;
      const open = await pages(repository, { status: 'active' }, signal);
      if (!open.isOk) return open;
      const reports = distinct([...ended.value.reports, ...open.value.reports]);
      const isCut = ended.value.isCut || open.value.isCut;
      return { isOk: true, value: { reports, isCut, readUntil: ended.value.readAt, etag: null } };
    },

    async compare({ repository, number, baseBranch, headSha }) {
      const { git } = place(repository);
      const version = (kind: 'base' | 'target', descriptor: string, type: 'branch' | 'commit') =>
        `${kind}Version=${encodeURIComponent(descriptor)}&${kind}VersionType=${type}`;
      const query = `${version('base', baseBranch, 'branch')}&${version('target', headSha, 'commit')}`;
      const url = `${git}/diffs/commits?${query}&$top=${FILES_MAX + 1}&diffCommonCommit=true&${VERSION}`;
      const answer = await exchange(NAME, { method: 'GET', url, headers });
      if (!answer.isOk) return answer;
      const diff = new UntrustedJson(answer.value.json);
      if (!diff.at('changes').isList())
        return { isOk: false, isTransient: false, mayBeDone: false, reason: `${NAME} shows no changes of ${number}` };
      const list = new ChangedFilesList();
      for (const change of diff.at('changes').items()) addChange(list, change);
      const [ahead, behind] = [diff.at('aheadCount').integer(), diff.at('behindCount').integer()];
      return { isOk: true, value: { files: list.files, ahead, behind } };
    },
  };
}

function addChange(list: ChangedFilesList, change: UntrustedJson): void {
  const path = change.at('item', 'path').text(4_000)?.replace(/^\//, '');
  if (path === undefined || change.at('item', 'isFolder').isTrue()) return;
  // Kinds may come together: `edit, rename`.
  const kinds = change.at('changeType').text() ?? '';
  if (/\bdelete\b/.test(kinds)) list.add('deleted', path);
  else list.add(/\b(?:add|rename)\b/.test(kinds) ? 'added' : 'modified', path);
}
