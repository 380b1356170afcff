import type { CommitStatus, GitHost, PipelineState } from '../../../domain/code/git-hosts/git-host.port.ts';
import {
  type CallHost,
  findOrCreate,
  openedAs,
  type HostAccess,
  type HostJson,
  type ReadHostText,
  withoutValue,
  textOf,
} from './host-http.ts';

import { createPipelineOutputB } from './pipeline-output-host-b.ts';

const NAME = 'host-b';
const VERSION = 'api-version=7.1';
const ENDED: Record<string, PipelineState> = { succeeded: 'succeeded', canceled: 'cancelled' };
const STATES: Record<CommitStatus['state'], string> = {
  pending: 'pending',
  success: 'succeeded',
  failure: 'failed',
  error: 'error',
};

/** Azure DevOps' REST interface: pipeline runs, statuses of commits, labels of pull requests. */
export function createGitHostB(
  call: CallHost,
  { baseUrl, token, username }: HostAccess,
  readText: ReadHostText,
): GitHost {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}` };
  const place = (repository: string) => {
    const [organization = '', project = '', name = project] = repository.split('/').map(encodeURIComponent);
    const root = `${baseUrl}/${organization}/${project}`;
    const apis = `${root}/_apis`;
    return {
      pipelines: `${apis}/pipelines`,
      builds: `${apis}/build/builds`,
      git: `${apis}/git/repositories/${name}`,
      webUrl: `${root}/_git/${name}`,
    };
  };
  return {
    async dispatchPipeline({ repository, pipeline, ref, inputs }) {
      const refName = ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
      const body = { resources: { repositories: { self: { refName } } }, templateParameters: inputs };
      const url = `${place(repository).pipelines}/${encodeURIComponent(pipeline)}/runs?${VERSION}`;
      const answer = await call(NAME, { method: 'POST', url, headers, body });
      if (!answer.isOk) return answer;
      const { id, _links: links } = answer.value as HostJson & { _links?: { web?: { href?: string } } };
      return { isOk: true, value: { runId: textOf(id), url: links?.web?.href ?? null } };
    },

    async pipelineState({ repository, pipeline, runId }) {
      const url = `${place(repository).pipelines}/${encodeURIComponent(pipeline)}/runs/${encodeURIComponent(runId)}?${VERSION}`;
      const answer = await call(NAME, { method: 'GET', url, headers });
      if (!answer.isOk) return answer;
      const { state, result } = answer.value;
      return { isOk: true, value: state === 'completed' ? (ENDED[textOf(result) ?? ''] ?? 'failed') : 'open' };
    },

    ...createPipelineOutputB({ call, readText, headers, token, buildsOf: (repository) => place(repository).builds }),

    // A run of a pipeline is a build of the same id; only builds can be cancelled.
    async cancelPipeline({ repository, runId }) {
      const url = `${place(repository).builds}/${encodeURIComponent(runId)}?${VERSION}`;
      return withoutValue(await call(NAME, { method: 'PATCH', url, headers, body: { status: 'cancelling' } }));
    },

    async writeStatus({ repository, commitId, context, state, description, targetUrl }) {
      const [genre = '', ...name] = context.split('/');
      const body = {
        state: STATES[state],
        description,
        context: { genre, name: name.join('/') },
        ...(targetUrl !== undefined && { targetUrl }),
      };
      return withoutValue(
        await call(NAME, {
          method: 'POST',
          url: `${place(repository).git}/commits/${commitId}/statuses?${VERSION}`,
          headers,
          body,
        }),
      );
    },

    openPullRequest: pullRequestOpener(call, { headers, place }),

    async changeLabel({ repository, prNumber, add, remove }) {
      const url = `${place(repository).git}/pullRequests/${prNumber}/labels`;
      for (const label of remove) {
        const removed = await call(NAME, {
          method: 'DELETE',
          url: `${url}/${encodeURIComponent(label)}?${VERSION}`,
          headers,
          acceptedStatuses: [404],
        });
        if (!removed.isOk) return removed;
      }
      return withoutValue(await call(NAME, { method: 'POST', url: `${url}?${VERSION}`, headers, body: { name: add } }));
    },
  };
}

/** Opens pull requests, once for the same branches. */
const pullRequestOpener =
  (
    call: CallHost,
    {
      headers,
      place,
    }: { headers: Record<string, string>; place: (repository: string) => { git: string; webUrl: string } },
  ): GitHost['openPullRequest'] =>
  async ({ repository, from, to, title, description }) => {
    const { git, webUrl } = place(repository);
    const [sourceRefName, targetRefName] = [`refs/heads/${from}`, `refs/heads/${to}`];
    const query = new URLSearchParams({
      'searchCriteria.status': 'active',
      'searchCriteria.sourceRefName': sourceRefName,
      'searchCriteria.targetRefName': targetRefName,
    });
    const body = { sourceRefName, targetRefName, title, description };
    const answer = await findOrCreate(call, NAME, {
      find: { method: 'GET', url: `${git}/pullrequests?${query}&${VERSION}`, headers },
      listIn: ({ value }) => value,
      create: { method: 'POST', url: `${git}/pullrequests?${VERSION}`, headers, body },
    });
    if (!answer.isOk) return answer;
    const number = Number(answer.value.pullRequestId);
    return openedAs(NAME, number, `${webUrl}/pullrequest/${number}`);
  };
