import type { CommitStatus, GitHost, PipelineState } from '../../../domain/code/git-hosts/git-host.port.ts';
import {
  type CallHost,
  findOrCreate,
  type HostAccess,
  openedAs,
  type ReadHostText,
  textOf,
  withoutValue,
} from './host-http.ts';

import { createPipelineOutputC } from './pipeline-output-host-c.ts';

const NAME = 'host-c';
const ENDED: Record<string, PipelineState> = {
  success: 'succeeded',
  skipped: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
};
const STATES: Record<CommitStatus['state'], string> = {
  pending: 'pending',
  success: 'success',
  failure: 'failed',
  error: 'canceled',
};

/** GitLab's REST interface, version 4: pipelines, statuses of commits, labels of merge requests. */
export function createGitHostC(call: CallHost, { baseUrl, token }: HostAccess, readText: ReadHostText): GitHost {
  const headers = { 'private-token': token };
  const project = (repository: string) => `${baseUrl}/projects/${encodeURIComponent(repository)}`;
  const pipelineOf = (repository: string, runId: string) =>
    `${project(repository)}/pipelines/${encodeURIComponent(runId)}`;
  return {
    async dispatchPipeline({ repository, ref, inputs }) {
      const body = { ref, variables: Object.entries(inputs).map(([key, value]) => ({ key, value })) };
      const answer = await call(NAME, { method: 'POST', url: `${project(repository)}/pipeline`, headers, body });
      if (!answer.isOk) return answer;
      const { id, web_url: webUrl } = answer.value;
      return { isOk: true, value: { runId: textOf(id), url: textOf(webUrl) } };
    },

    async pipelineState({ repository, runId }) {
      const answer = await call(NAME, { method: 'GET', url: pipelineOf(repository, runId), headers });
      if (!answer.isOk) return answer;
      return { isOk: true, value: ENDED[textOf(answer.value.status) ?? ''] ?? 'open' };
    },

    ...createPipelineOutputC({ call, readText, headers, token, project, pipelineOf }),

    cancelPipeline: async ({ repository, runId }) =>
      withoutValue(await call(NAME, { method: 'POST', url: `${pipelineOf(repository, runId)}/cancel`, headers })),

    async writeStatus({ repository, commitId, context, state, description, targetUrl }) {
      const body = {
        state: STATES[state],
        name: context,
        description,
        ...(targetUrl !== undefined && { target_url: targetUrl }),
      };
      return withoutValue(
        await call(NAME, { method: 'POST', url: `${project(repository)}/statuses/${commitId}`, headers, body }),
      );
    },

    openPullRequest: pullRequestOpener(call, { headers, project }),

    async changeLabel({ repository, prNumber, add, remove }) {
      const body = { add_labels: add, remove_labels: remove.join(',') };
      return withoutValue(
        await call(NAME, { method: 'PUT', url: `${project(repository)}/merge_requests/${prNumber}`, headers, body }),
      );
    },
  };
}

/** Opens pull requests, once for the same branches. */
const pullRequestOpener =
  (
    call: CallHost,
    { headers, project }: { headers: Record<string, string>; project: (repository: string) => string },
  ): GitHost['openPullRequest'] =>
  async ({ repository, from, to, title, description }) => {
    const url = `${project(repository)}/merge_requests`;
    const branches = { source_branch: from, target_branch: to };
    const query = new URLSearchParams({ ...branches, state: 'opened', per_page: '1' });
    const answer = await findOrCreate(call, NAME, {
      find: { method: 'GET', url: `${url}?${query}`, headers },
      listIn: (reply) => reply,
      create: { method: 'POST', url, headers, body: { ...branches, title, description } },
    });
    if (!answer.isOk) return answer;
    const { iid, web_url: webUrl } = answer.value;
    return openedAs(NAME, iid, textOf(webUrl));
  };
