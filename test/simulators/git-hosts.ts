import type { IncomingHttpHeaders } from 'node:http';
import type { Json } from '../support/client.ts';
import { type Endpoint, type HostRules, type HostServer, hostServer, type Limit, type Reply } from './host-server.ts';
import { branchPullRequests } from './branch-pull-requests.ts';
import { pullRequestEndpoints, type StoredPullRequest } from './pull-request-endpoints.ts';
import { GitHubIssues } from './trackers/github-issues.ts';
import { AzureBoards } from './trackers/azure-boards.ts';

type GitPlatform = 'host-a' | 'host-b' | 'host-c';

export interface GitHostSimulator extends HostServer {
  /** States of pipelines, in the host's own words, by id; those that are not named are under way. */
  ended: Map<string, string>;
  /** Jobs of pipelines, by the id of the pipeline. */
  jobs: Map<string, SimulatedJob[]>;
  /** Issues of host-a. */
  issues: GitHubIssues;
  /** Boards of host-b. */
  boards: AzureBoards;
  /** All that the host has, in any repository. */
  pullRequests: StoredPullRequest[];
}

const TOKEN = 'host-token';
/** What `POST /api/integrations` takes for one of these hosts. */
export const hostCredentials = { type: 'token', token: TOKEN };
/** Whom the credentials belong to: those of the integration, and those of a person. */
const USERS = new Map([
  [TOKEN, 'quayside-bot'],
  ['token-of-dana', 'dana'],
]);

interface Place {
  url: string;
  ended: Map<string, string>;
  jobs: Map<string, SimulatedJob[]>;
  /** Where host-a keeps logs, apart from itself. */
  storageUrl: string;
}

/** A job of a pipeline, in the host's own words. */
export interface SimulatedJob {
  id: number;
  name: string;
  stage?: string;
  /** `in_progress`, `running`, `inProgress`, … */
  state: string;
  /** How it ended, where the host says that apart. */
  result?: string;
  /** What it has printed. */
  log: string;
}

const jobById = (jobs: Place['jobs'], id: string): SimulatedJob | undefined =>
  [...jobs.values()].flat().find((job) => String(job.id) === id);
const logText = (body: string): Reply => ({ status: 200, body, headers: { 'content-type': 'text/plain' } });

let made = 100;
const refuse = (message: string, status = 422): Reply => ({ status, body: { message } });
const isTexts = (value: Json): boolean =>
  typeof value === 'object' && Object.values(value).every((text) => typeof text === 'string');

/** GitHub: workflow dispatch events, workflow runs, commit statuses, labels of pull requests. */
const HOST_A = ({ url, ended, jobs, storageUrl }: Place): Endpoint[] => [
  {
    method: 'GET',
    path: /^\/repos\/[^/]+\/[^/]+\/actions\/runs\/(\d+)\/jobs$/,
    handle: (_, [, id = '']) => {
      const all = jobs.get(id) ?? [];
      const listed = all.map(({ id: jobId, name, state, result }) => ({
        id: jobId,
        run_id: Number(id),
        name,
        status: state,
        conclusion: result ?? null,
        steps: [{ name: 'Set up job', status: state === 'in_progress' ? 'in_progress' : 'completed', number: 1 }],
      }));
      return { status: 200, body: { total_count: all.length, jobs: listed } };
    },
  },
  {
    // Logs are kept once a job has ended, at an address of their own that is signed for a minute.
    method: 'GET',
    path: /^\/repos\/[^/]+\/[^/]+\/actions\/jobs\/(\d+)\/logs$/,
    handle: (_, [, id = '']) =>
      jobById(jobs, id)?.state === 'completed'
        ? { status: 302, headers: { location: `${storageUrl}/logs/${id}?sig=signed` } }
        : refuse('Not Found', 404),
  },
  {
    method: 'POST',
    path: /^\/repos\/([^/]+\/[^/]+)\/actions\/workflows\/([^/]+)\/dispatches$/,
    handle({ body }, [, repository]) {
      if (typeof body.ref !== 'string' || !isTexts(body.inputs ?? {}) || Object.keys(body.inputs ?? {}).length > 25)
        return refuse('Invalid request');
      if (body.return_run_details !== true) return { status: 204 };
      const id = ++made;
      return {
        status: 200,
        body: {
          workflow_run_id: id,
          run_url: `${url}/repos/${repository}/actions/runs/${id}`,
          html_url: `https://host-a.example/${repository}/actions/runs/${id}`,
        },
      };
    },
  },
  {
    method: 'GET',
    path: /^\/repos\/[^/]+\/[^/]+\/actions\/runs\/(\d+)$/,
    handle: (_, [, id = '']) => ({
      status: 200,
      body: { id: Number(id), status: ended.has(id) ? 'completed' : 'in_progress', conclusion: ended.get(id) ?? null },
    }),
  },
  {
    method: 'POST',
    path: /^\/repos\/[^/]+\/[^/]+\/actions\/runs\/(\d+)\/cancel$/,
    handle(_, [, id = '']) {
      if (ended.has(id)) return { status: 409, body: { message: 'Cannot cancel a workflow run that is completed.' } };
      ended.set(id, 'cancelled');
      return { status: 202, body: {} };
    },
  },
  {
    method: 'POST',
    path: /^\/repos\/[^/]+\/[^/]+\/statuses\/([0-9a-f]+)$/,
    handle: ({ body }) =>
      ['error', 'failure', 'pending', 'success'].includes(body.state) && body.description.length <= 140
        ? { status: 201, body }
        : refuse('Validation Failed'),
  },
  {
    method: 'POST',
    path: /^\/repos\/[^/]+\/[^/]+\/issues\/\d+\/labels$/,
    handle: ({ body }) => (Array.isArray(body.labels) ? { status: 200, body: [] } : refuse('Validation Failed')),
  },
  {
    method: 'DELETE',
    path: /^\/repos\/[^/]+\/[^/]+\/issues\/\d+\/labels\/[^/]+$/,
    handle: () => ({ status: 404, body: { message: 'Label does not exist' } }),
  },
];

/** Azure DevOps, api-version 7.1: runs of pipelines, commit statuses, labels of pull requests. */
const HOST_B = ({ ended, jobs }: Place): Endpoint[] => [
  {
    method: 'GET',
    path: /^\/[^/]+\/[^/]+\/_apis\/build\/builds\/(\d+)\/timeline$/,
    handle: (_, [, id = '']) => {
      const records = (jobs.get(id) ?? []).flatMap(({ id: jobId, name, stage = '__default', state, result, log }) => [
        { id: `stage-${stage}`, parentId: null, type: 'Stage', name: stage, state, result: result ?? null, order: 1 },
        {
          id: `task-${jobId}`,
          parentId: `stage-${stage}`,
          type: 'Task',
          name,
          state,
          result: result ?? null,
          order: jobId,
          startTime: `2026-11-29T08:00:${String(jobId % 60).padStart(2, '0')}Z`,
          log: log === '' ? null : { id: jobId, type: 'Container' },
        },
      ]);
      return { status: 200, body: { records: [...new Map(records.map((each) => [each.id, each])).values()] } };
    },
  },
  {
    method: 'GET',
    path: /^\/[^/]+\/[^/]+\/_apis\/build\/builds\/\d+\/logs\/(\d+)$/,
    handle({ headers: { accept } }, [, id = '']) {
      const { log = '' } = jobById(jobs, id) ?? {};
      const value = log.split('\n');
      return accept === 'text/plain' ? logText(log) : { status: 200, body: { count: value.length, value } };
    },
  },
  {
    method: 'POST',
    path: /^\/([^/]+\/[^/]+)\/_apis\/pipelines\/(\d+)\/runs$/,
    handle({ body }, [, place]) {
      if (
        !String(body.resources?.repositories?.self?.refName).startsWith('refs/') ||
        !isTexts(body.templateParameters ?? {})
      )
        return refuse('Bad request', 400);
      const id = ++made;
      return {
        status: 200,
        body: {
          id,
          state: 'inProgress',
          _links: { web: { href: `https://host-b.example/${place}/_build/results?buildId=${id}` } },
        },
      };
    },
  },
  {
    method: 'GET',
    path: /^\/[^/]+\/[^/]+\/_apis\/pipelines\/\d+\/runs\/(\d+)$/,
    handle: (_, [, id = '']) => ({
      status: 200,
      body: { id: Number(id), state: ended.has(id) ? 'completed' : 'inProgress', result: ended.get(id) },
    }),
  },
  {
    method: 'PATCH',
    path: /^\/[^/]+\/[^/]+\/_apis\/build\/builds\/(\d+)$/,
    handle({ body }, [, id = '']) {
      if (body.status !== 'cancelling') return refuse('Bad request', 400);
      if (!ended.has(id)) ended.set(id, 'canceled');
      return { status: 200, body: { id: Number(id), status: 'cancelling' } };
    },
  },
  {
    method: 'POST',
    path: /^\/[^/]+\/[^/]+\/_apis\/git\/repositories\/[^/]+\/commits\/[0-9a-f]+\/statuses$/,
    handle: ({ body }) =>
      ['succeeded', 'failed', 'pending', 'error'].includes(body.state) && body.context?.name
        ? { status: 201, body }
        : refuse('Bad request', 400),
  },
  {
    method: 'POST',
    path: /\/pullRequests\/\d+\/labels$/,
    handle: ({ body }) => (typeof body.name === 'string' ? { status: 200, body } : refuse('Bad request', 400)),
  },
  { method: 'DELETE', path: /\/pullRequests\/\d+\/labels\/[^/]+$/, handle: () => ({ status: 200 }) },
];

/** GitLab, version 4: pipelines, commit statuses, labels of merge requests. */
const HOST_C = ({ ended, jobs }: Place): Endpoint[] => [
  {
    method: 'GET',
    path: /^\/projects\/[^/]+\/pipelines\/(\d+)\/jobs$/,
    handle: (_, [, id = '']) => ({
      status: 200,
      body: (jobs.get(id) ?? [])
        .map(({ id: jobId, name, stage, state }) => ({ id: jobId, name, stage, status: state }))
        .toReversed(),
    }),
  },
  {
    method: 'GET',
    path: /^\/projects\/[^/]+\/jobs\/(\d+)\/trace$/,
    handle: (_, [, id = '']) => logText(jobById(jobs, id)?.log ?? ''),
  },
  {
    method: 'POST',
    path: /^\/projects\/([^/]+)\/pipeline$/,
    handle({ body }, [, project]) {
      if (
        typeof body.ref !== 'string' ||
        !body.variables.every((each: Json) => isTexts(each) && each.key !== undefined)
      )
        return refuse('400 Bad request', 400);
      const id = ++made;
      return {
        status: 201,
        body: {
          id,
          status: 'created',
          web_url: `https://host-c.example/${decodeURIComponent(project ?? '')}/-/pipelines/${id}`,
        },
      };
    },
  },
  {
    method: 'GET',
    path: /^\/projects\/[^/]+\/pipelines\/(\d+)$/,
    handle: (_, [, id = '']) => ({
      status: 200,
      body: { id: Number(id), status: ended.get(id) ?? 'running' },
    }),
  },
  {
    method: 'POST',
    path: /^\/projects\/[^/]+\/pipelines\/(\d+)\/cancel$/,
    handle(_, [, id = '']) {
      if (!ended.has(id)) ended.set(id, 'canceled');
      return { status: 200, body: { id: Number(id), status: ended.get(id) } };
    },
  },
  {
    method: 'POST',
    path: /^\/projects\/[^/]+\/statuses\/[0-9a-f]+$/,
    handle: ({ body }) =>
      ['pending', 'running', 'success', 'failed', 'canceled'].includes(body.state)
        ? { status: 201, body }
        : refuse('400 Bad request', 400),
  },
  {
    method: 'PUT',
    path: /^\/projects\/[^/]+\/merge_requests\/\d+$/,
    handle: ({ body }) =>
      typeof body.add_labels === 'string' ? { status: 200, body } : refuse('400 Bad request', 400),
  },
];

const callerOf: Record<GitPlatform, (headers: IncomingHttpHeaders) => string | undefined> = {
  'host-a': ({ authorization = '' }) => USERS.get(authorization.replace(/^Bearer /, '')),
  'host-b': ({ authorization = '' }) =>
    USERS.get(
      authorization.startsWith('Basic ')
        ? Buffer.from(authorization.slice(6), 'base64').toString('utf8').replace(/^:/, '')
        : authorization.replace(/^Bearer /, ''),
    ),
  'host-c': (headers) => USERS.get(String(headers['private-token'])),
};

const seconds = ({ resetAt }: Limit): string => String(Math.ceil(resetAt.getTime() / 1_000));
const wait = ({ resetAt }: Limit): string => String(Math.ceil((resetAt.getTime() - Date.now()) / 1_000));

/** GitHub answers 403 to what is above its primary limit, the others 429. */
const LIMITS: Record<GitPlatform, Pick<HostRules, 'limitHeaders' | 'limited'>> = {
  'host-a': {
    limitHeaders: (limit) => ({
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': String(limit.remaining),
      'x-ratelimit-reset': seconds(limit),
      'x-ratelimit-resource': 'core',
    }),
    limited: () => refuse('API rate limit exceeded for user ID 1.', 403),
  },
  'host-b': {
    limitHeaders: (limit) => ({
      'x-ratelimit-remaining': String(limit.remaining),
      'x-ratelimit-reset': seconds(limit),
    }),
    limited: (limit) => ({ ...refuse('Request was blocked', 429), headers: { 'retry-after': wait(limit) } }),
  },
  'host-c': {
    limitHeaders: (limit) => ({ 'ratelimit-remaining': String(limit.remaining), 'ratelimit-reset': seconds(limit) }),
    limited: (limit) => ({ ...refuse('Too Many Requests', 429), headers: { 'retry-after': wait(limit) } }),
  },
};

/** Azure DevOps refuses requests that name no version. */
const versioned = (endpoints: Endpoint[]): Endpoint[] =>
  endpoints.map(({ handle, ...endpoint }) => ({
    ...endpoint,
    handle: (request, match) =>
      request.query.get('api-version')?.startsWith('7.1')
        ? handle(request, match)
        : refuse('No api-version was supplied', 400),
  }));

/** A git host on loopback that follows the interface which the vendor publishes, as far as the service uses it. */
export async function gitHost(platform: GitPlatform): Promise<GitHostSimulator> {
  const ended = new Map<string, string>();
  const issues = new GitHubIssues();
  const boards = new AzureBoards();
  const pullRequests: StoredPullRequest[] = [];
  const ofPullRequests = [
    ...branchPullRequests(pullRequests)[platform],
    ...pullRequestEndpoints(pullRequests)[platform],
  ];
  const jobs = new Map<string, SimulatedJob[]>();
  const storage = await logStorage(jobs);
  const place = { ended, jobs, storageUrl: storage.url };
  const host = await hostServer((url) => ({
    endpoints: {
      'host-a': [...issues.endpoints(url), ...HOST_A({ ...place, url }), ...ofPullRequests],
      'host-b': versioned([...boards.endpoints(url), ...HOST_B({ ...place, url }), ...ofPullRequests]),
      'host-c': [...HOST_C({ ...place, url }), ...ofPullRequests],
    }[platform],
    callerOf: callerOf[platform],
    unauthenticated: () => refuse('Bad credentials', 401),
    notFound: () => refuse('Not Found', 404),
    ...LIMITS[platform],
  }));
  const closeHost = host.close;
  const close = async () => {
    await Promise.all([closeHost(), storage.close()]);
  };
  return Object.assign(host, { ended, jobs, issues, boards, pullRequests, close });
}

/** Where host-a keeps logs: an address that is signed, and refuses any other credential. */
const logStorage = (jobs: Place['jobs']): Promise<HostServer> =>
  hostServer(() => ({
    endpoints: [
      {
        method: 'GET',
        path: /^\/logs\/(\d+)$/,
        handle: ({ query }, [, id = '']) =>
          query.get('sig') === 'signed'
            ? logText(jobById(jobs, id)?.log ?? '')
            : refuse('Signature did not match', 403),
      },
    ],
    callerOf: ({ authorization }) => (authorization === undefined ? 'anybody' : undefined),
    unauthenticated: () => refuse('Only one authentication mechanism is allowed', 400),
    notFound: () => refuse('Not Found', 404),
    ...LIMITS['host-a'],
  }));
