import type { GitHost, PipelineState } from '../../../domain/code/git-hosts/git-host.port.ts';
import {
  type CallHost,
  findOrCreate,
  type HostAccess,
  openedAs,
  type ReadHostText,
  textOf,
  withoutValue,
} from './host-http.ts';

import { createPipelineOutputA } from './pipeline-output-host-a.ts';

const NAME = 'host-a';
const VERSION = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
const ENDED: Record<string, PipelineState> = {
  success: 'succeeded',
  neutral: 'succeeded',
  skipped: 'succeeded',
  cancelled: 'cancelled',
};

/** GitHub's REST interface: workflow dispatches, workflow runs, commit statuses, labels of issues. */
export function createGitHostA(call: CallHost, { baseUrl, token }: HostAccess, readText: ReadHostText): GitHost {
  const headers = { ...VERSION, authorization: `Bearer ${token}` };
  const repo = (repository: string) => `${baseUrl}/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
  const runOf = (repository: string, runId: string) => `${repo(repository)}/actions/runs/${encodeURIComponent(runId)}`;
  return {
    async dispatchPipeline({ repository, pipeline, ref, inputs }) {
      const url = `${repo(repository)}/actions/workflows/${encodeURIComponent(pipeline)}/dispatches`;
      const answer = await call(NAME, {
        method: 'POST',
        url,
        headers,
        body: { ref, inputs, return_run_details: true },
      });
      if (!answer.isOk) return answer;
      // A server that does not know `return_run_details` yet answers without a body.
      const { workflow_run_id: runId, html_url: htmlUrl } = answer.value;
      return { isOk: true, value: { runId: textOf(runId), url: textOf(htmlUrl) } };
    },

    async pipelineState({ repository, runId }) {
      const answer = await call(NAME, { method: 'GET', url: runOf(repository, runId), headers });
      if (!answer.isOk) return answer;
      const { status, conclusion } = answer.value;
      return { isOk: true, value: status === 'completed' ? (ENDED[textOf(conclusion) ?? ''] ?? 'failed') : 'open' };
    },

    ...createPipelineOutputA({ call, readText, headers, token, repo, runOf }),

    // 409: it has ended already.
    async cancelPipeline({ repository, runId }) {
      const url = `${runOf(repository, runId)}/cancel`;
      return withoutValue(await call(NAME, { method: 'POST', url, headers, acceptedStatuses: [409] }));
    },

    async writeStatus({ repository, commitId, context, state, description, targetUrl }) {
      const body = { state, context, description, ...(targetUrl !== undefined && { target_url: targetUrl }) };
      return withoutValue(
        await call(NAME, { method: 'POST', url: `${repo(repository)}/statuses/${commitId}`, headers, body }),
      );
    },

    openPullRequest: pullRequestOpener(call, { headers, repo }),

    async changeLabel({ repository, prNumber, add, remove }) {
      const url = `${repo(repository)}/issues/${prNumber}/labels`;
      for (const label of remove) {
        const removed = await call(NAME, {
          method: 'DELETE',
          url: `${url}/${encodeURIComponent(label)}`,
          headers,
          acceptedStatuses: [404],
        });
        if (!removed.isOk) return removed;
      }
      return withoutValue(await call(NAME, { method: 'POST', url, headers, body: { labels: [add] } }));
    },
  };
}

/** Opens pull requests, once for the same branches. */
const pullRequestOpener =
  (
    call: CallHost,
    { headers, repo }: { headers: Record<string, string>; repo: (repository: string) => string },
  ): GitHost['openPullRequest'] =>
  async ({ repository, from, to, title, description: body }) => {
    const url = `${repo(repository)}/pulls`;
    const head = `${repository.split('/')[0]}:${from}`;
    const query = new URLSearchParams({ state: 'open', head, base: to, per_page: '1' });
    const answer = await findOrCreate(call, NAME, {
      find: { method: 'GET', url: `${url}?${query}`, headers },
      listIn: (reply) => reply,
      create: { method: 'POST', url, headers, body: { title, head: from, base: to, body } },
    });
    if (!answer.isOk) return answer;
    const { number, html_url: htmlUrl } = answer.value;
    return openedAs(NAME, number, textOf(htmlUrl));
  };
