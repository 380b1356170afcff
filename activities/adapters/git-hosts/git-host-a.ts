import type { GitHost, PipelineState } from '../../../domain/code/git-hosts/git-host.port.ts';
import { type CallHost, type HostAccess, withoutValue, textOf } from './host-http.ts';

const NAME = 'host-a';
const VERSION = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };
const ENDED: Record<string, PipelineState> = {
  success: 'succeeded',
  neutral: 'succeeded',
  skipped: 'succeeded',
  cancelled: 'cancelled',
};

/** GitHub's REST interface: workflow dispatches, workflow runs, commit statuses, labels of issues. */
export function createGitHostA(call: CallHost, { baseUrl, token }: HostAccess): GitHost {
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

    // 409: it has ended already.
    cancelPipeline: async ({ repository, runId }) =>
      withoutValue(
        await call(NAME, {
          method: 'POST',
          url: `${runOf(repository, runId)}/cancel`,
          headers,
          acceptedStatuses: [409],
        }),
      ),

    async writeStatus({ repository, commitId, context, state, description, targetUrl }) {
      const body = { state, context, description, ...(targetUrl !== undefined && { target_url: targetUrl }) };
      return withoutValue(
        await call(NAME, { method: 'POST', url: `${repo(repository)}/statuses/${commitId}`, headers, body }),
      );
    },

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
