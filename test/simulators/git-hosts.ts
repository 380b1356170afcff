import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../support/client.ts';

interface HostRequest {
  method: string;
  path: string;
  body: Json;
}

interface Reply {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface GitHostSimulator {
  url: string;
  requests: HostRequest[];
  /** States of pipelines, in the host's own words, by id; those that are not named are under way. */
  ended: Map<string, string>;
  /** Answers the next request instead of the host; `hang` never answers. */
  failNext: (failure: Reply | 'hang') => void;
  close: () => Promise<void>;
}

const TOKEN = 'host-token';
/** What `POST /api/integrations` takes for one of these hosts. */
export const hostCredentials = { type: 'token', token: TOKEN };

type Handle = (request: HostRequest, match: RegExpExecArray, host: Pick<GitHostSimulator, 'url' | 'ended'>) => Reply;
interface Endpoint {
  method: string;
  path: RegExp;
  handle: Handle;
}

let made = 100;
const refuse = (message: string, status = 422): Reply => ({ status, body: { message } });
const isTexts = (value: Json): boolean =>
  typeof value === 'object' && Object.values(value).every((text) => typeof text === 'string');

/** GitHub: workflow dispatch events, workflow runs, commit statuses, labels of issues. */
const HOST_A: Endpoint[] = [
  {
    method: 'POST',
    path: /^\/repos\/([^/]+\/[^/]+)\/actions\/workflows\/([^/]+)\/dispatches$/,
    handle({ body }, [, repository], { url }) {
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
    handle: (_, [, id = ''], { ended }) => ({
      status: 200,
      body: { id: Number(id), status: ended.has(id) ? 'completed' : 'in_progress', conclusion: ended.get(id) ?? null },
    }),
  },
  {
    method: 'POST',
    path: /^\/repos\/[^/]+\/[^/]+\/actions\/runs\/(\d+)\/cancel$/,
    handle(_, [, id = ''], { ended }) {
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
const HOST_B: Endpoint[] = [
  {
    method: 'POST',
    path: /^\/([^/]+\/[^/]+)\/_apis\/pipelines\/(\d+)\/runs\?api-version=7\.1$/,
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
    path: /^\/[^/]+\/[^/]+\/_apis\/pipelines\/\d+\/runs\/(\d+)\?api-version=7\.1$/,
    handle: (_, [, id = ''], { ended }) => ({
      status: 200,
      body: { id: Number(id), state: ended.has(id) ? 'completed' : 'inProgress', result: ended.get(id) },
    }),
  },
  {
    method: 'PATCH',
    path: /^\/[^/]+\/[^/]+\/_apis\/build\/builds\/(\d+)\?api-version=7\.1$/,
    handle({ body }, [, id = ''], { ended }) {
      if (body.status !== 'cancelling') return refuse('Bad request', 400);
      if (!ended.has(id)) ended.set(id, 'canceled');
      return { status: 200, body: { id: Number(id), status: 'cancelling' } };
    },
  },
  {
    method: 'POST',
    path: /^\/[^/]+\/[^/]+\/_apis\/git\/repositories\/[^/]+\/commits\/[0-9a-f]+\/statuses\?api-version=7\.1$/,
    handle: ({ body }) =>
      ['succeeded', 'failed', 'pending', 'error'].includes(body.state) && body.context?.name
        ? { status: 201, body }
        : refuse('Bad request', 400),
  },
  {
    method: 'POST',
    path: /\/pullRequests\/\d+\/labels\?api-version=7\.1$/,
    handle: ({ body }) => (typeof body.name === 'string' ? { status: 200, body } : refuse('Bad request', 400)),
  },
  { method: 'DELETE', path: /\/pullRequests\/\d+\/labels\/[^/]+\?api-version=7\.1$/, handle: () => ({ status: 200 }) },
];

/** GitLab, version 4: pipelines, commit statuses, labels of merge requests. */
const HOST_C: Endpoint[] = [
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
    handle: (_, [, id = ''], { ended }) => ({
      status: 200,
      body: { id: Number(id), status: ended.get(id) ?? 'running' },
    }),
  },
  {
    method: 'POST',
    path: /^\/projects\/[^/]+\/pipelines\/(\d+)\/cancel$/,
    handle(_, [, id = ''], { ended }) {
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

const isSignedIn: Record<string, (headers: IncomingMessage['headers']) => boolean> = {
  'host-a': ({ authorization }) => authorization === `Bearer ${TOKEN}`,
  'host-b': ({ authorization }) => authorization === `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`,
  'host-c': (headers) => headers['private-token'] === TOKEN,
};
const ENDPOINTS: Record<string, Endpoint[]> = { 'host-a': HOST_A, 'host-b': HOST_B, 'host-c': HOST_C };

/** A git host on loopback that follows the interface which the vendor publishes, as far as runs use it. */
export async function gitHost(platform: 'host-a' | 'host-b' | 'host-c'): Promise<GitHostSimulator> {
  const failures: (Reply | 'hang')[] = [];
  const simulator = { requests: [] as HostRequest[], ended: new Map<string, string>(), url: '' };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const request = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        body: text === '' ? {} : JSON.parse(text),
      };
      simulator.requests.push(request);
      const failure = failures.shift();
      if (failure === 'hang') return;
      const reply =
        failure ?? (isSignedIn[platform]?.(incoming.headers) ? answer(request) : refuse('Bad credentials', 401));
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(reply.body === undefined ? '' : JSON.stringify(reply.body));
    });
  });
  const answer = (request: HostRequest): Reply => {
    for (const { method, path, handle } of ENDPOINTS[platform] ?? []) {
      const match = path.exec(request.path);
      if (match && method === request.method) return handle(request, match, simulator);
    }
    return refuse('Not Found', 404);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  simulator.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...simulator,
    failNext: (failure) => void failures.push(failure),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
