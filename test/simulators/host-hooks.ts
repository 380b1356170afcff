import { createHmac, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export const HOSTS = ['host-a', 'host-b', 'host-c'] as const;
export type Host = (typeof HOSTS)[number];

/** What a host sends: the body, and the headers that come before the proof of the sender. */
export interface HostHook {
  host: Host;
  headers: Record<string, string>;
  body: object;
}

export interface HookRequest {
  path: string;
  headers: Record<string, string>;
  rawBody: string;
}

interface Place {
  repository: string;
  commitId: string;
  branch?: string;
  message?: string;
  /** When it happened. */
  at?: Date;
}

export type BuildOutcome = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface BuildPlace extends Place {
  outcome: BuildOutcome;
  name?: string;
}

const AUTHOR = { name: 'Dana Döring', email: 'dana@example.com' };
const ZEROS = '0'.repeat(40);
/** Like `2026-03-02 09:30:00 UTC`. */
const gitlabTime = (at: Date) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** A push, as GitHub (`push`), Azure DevOps (`git.push`, 1.0) and GitLab (`Push Hook`) publish it. */
export function pushHook(
  host: Host,
  { repository, commitId, branch = 'main', message = 'A change', at = new Date() }: Place,
): HostHook {
  const ref = `refs/heads/${branch}`;
  const timestamp = at.toISOString();
  switch (host) {
    case 'host-a': {
      const commit = {
        id: commitId,
        tree_id: commitId,
        distinct: true,
        message,
        timestamp,
        author: AUTHOR,
        committer: AUTHOR,
        added: [],
        removed: [],
        modified: ['a'],
      };
      const body = {
        ref,
        before: ZEROS,
        after: commitId,
        repository: { id: 1, full_name: repository, pushed_at: Math.floor(at.getTime() / 1_000) },
        head_commit: commit,
        commits: [commit],
      };
      return { host, headers: { 'x-github-event': 'push', 'x-github-delivery': randomUUID() }, body };
    }
    case 'host-b': {
      const [organization = '', project = '', name = ''] = repository.split('/').map(encodeURIComponent);
      const remoteUrl = `https://${organization}@dev.azure.com/${organization}/${project}/_git/${name}`;
      const resource = {
        commits: [
          {
            commitId,
            author: { ...AUTHOR, date: timestamp },
            committer: { ...AUTHOR, date: timestamp },
            comment: message,
          },
        ],
        refUpdates: [{ name: ref, oldObjectId: ZEROS, newObjectId: commitId }],
        repository: {
          id: randomUUID(),
          name: decodeURIComponent(name),
          project: { name: decodeURIComponent(project) },
          defaultBranch: 'refs/heads/main',
          remoteUrl,
        },
        pushId: 14,
        date: timestamp,
      };
      return {
        host,
        headers: {},
        body: {
          id: randomUUID(),
          eventType: 'git.push',
          publisherId: 'tfs',
          resource,
          resourceVersion: '1.0',
          createdDate: timestamp,
        },
      };
    }
    case 'host-c': {
      const commits = [
        { id: commitId, message, title: message, timestamp, author: AUTHOR, added: [], modified: ['a'], removed: [] },
      ];
      const body = {
        object_kind: 'push',
        event_name: 'push',
        before: ZEROS,
        after: commitId,
        ref,
        checkout_sha: commitId,
        project: { id: 1, path_with_namespace: repository },
        commits,
        total_commits_count: 1,
      };
      return { host, headers: { 'x-gitlab-event': 'Push Hook', 'idempotency-key': randomUUID() }, body };
    }
  }
}

const WORKFLOW_RUN: Record<BuildOutcome, { status: string; conclusion: string | null }> = {
  queued: { status: 'queued', conclusion: null },
  running: { status: 'in_progress', conclusion: null },
  succeeded: { status: 'completed', conclusion: 'success' },
  failed: { status: 'completed', conclusion: 'failure' },
  cancelled: { status: 'completed', conclusion: 'cancelled' },
};
const BUILD: Record<BuildOutcome, object> = {
  queued: { status: 'notStarted' },
  running: { status: 'inProgress' },
  succeeded: { status: 'completed', result: 'succeeded' },
  failed: { status: 'completed', result: 'failed' },
  cancelled: { status: 'completed', result: 'canceled' },
};
const PIPELINE: Record<BuildOutcome, string> = {
  queued: 'pending',
  running: 'running',
  succeeded: 'success',
  failed: 'failed',
  cancelled: 'canceled',
};

/** How a build gets on: GitHub's `workflow_run`, Azure DevOps' `build.complete` (2.0), GitLab's `Pipeline Hook`. */
export function buildHook(
  host: Host,
  { repository, commitId, branch = 'main', outcome, name = 'ci', message = 'A change', at = new Date() }: BuildPlace,
): HostHook {
  const timestamp = at.toISOString();
  switch (host) {
    case 'host-a': {
      const run = {
        id: 30433642,
        name,
        head_branch: branch,
        head_sha: commitId,
        run_number: 562,
        event: 'push',
        ...WORKFLOW_RUN[outcome],
        html_url: `https://host-a.example/${repository}/actions/runs/30433642`,
        pull_requests: [],
        created_at: timestamp,
        updated_at: timestamp,
        head_commit: { id: commitId, message, timestamp: '2026-01-02T03:04:05Z', author: AUTHOR },
      };
      const action = { queued: 'requested', running: 'in_progress' }[outcome as 'queued'] ?? 'completed';
      return {
        host,
        headers: { 'x-github-event': 'workflow_run', 'x-github-delivery': randomUUID() },
        body: { action, workflow_run: run, repository: { full_name: repository } },
      };
    }
    case 'host-b': {
      const [organization, project, repo] = repository.split('/');
      const resource = {
        id: 2,
        buildNumber: '20260302.1',
        ...BUILD[outcome],
        finishTime: timestamp,
        url: `https://dev.azure.com/${organization}/${project}/_apis/build/Builds/2`,
        _links: { web: { href: `https://dev.azure.com/${organization}/${project}/_build/results?buildId=2` } },
        definition: { id: 1, name },
        project: { name: project },
        sourceBranch: `refs/heads/${branch}`,
        sourceVersion: commitId,
        repository: {
          id: randomUUID(),
          type: 'TfsGit',
          name: repo,
          url: `https://dev.azure.com/${organization}/${project}/_git/${repo}`,
        },
      };
      return {
        host,
        headers: {},
        body: {
          id: randomUUID(),
          eventType: 'build.complete',
          publisherId: 'tfs',
          resource,
          resourceVersion: '2.0',
          createdDate: timestamp,
        },
      };
    }
    case 'host-c': {
      const isOver = !['queued', 'running'].includes(outcome);
      const run = {
        id: 31,
        iid: 3,
        name,
        ref: branch,
        tag: false,
        sha: commitId,
        source: 'push',
        status: PIPELINE[outcome],
        created_at: gitlabTime(isOver ? new Date(at.getTime() - 60_000) : at),
        finished_at: isOver ? gitlabTime(at) : null,
        url: `https://host-c.example/${repository}/-/pipelines/31`,
      };
      const body = {
        object_kind: 'pipeline',
        object_attributes: run,
        merge_request: null,
        project: { path_with_namespace: repository },
        commit: { id: commitId, message, timestamp: '2026-01-02T03:04:05+00:00', author: AUTHOR },
      };
      return { host, headers: { 'x-gitlab-event': 'Pipeline Hook', 'idempotency-key': randomUUID() }, body };
    }
  }
}

/** The request by which the host sends a hook, proven as its vendor publishes; GitLab's signing token when `isSigned`. */
export function sent({ host, headers, body }: HostHook, secret: string, { isSigned = false } = {}): HookRequest {
  const rawBody = JSON.stringify(body);
  const proof = (): Record<string, string> => {
    if (host === 'host-a')
      return { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}` };
    if (host === 'host-b') return { authorization: `Basic ${Buffer.from(`hooks:${secret}`).toString('base64')}` };
    if (!isSigned) return { 'x-gitlab-token': secret };
    const [id, now] = [headers['idempotency-key'] ?? randomUUID(), new Date()];
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, now, rawBody),
    };
  };
  return { path: `/api/hooks/${host}`, headers: { ...headers, ...proof() }, rawBody };
}
