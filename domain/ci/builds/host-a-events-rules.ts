import { readPullRequestA, readReviewA } from '../../code/pull-requests/host-a-pull-request-rules.ts';
import { readIssueA } from '../../work/work-item-requests/item-hooks-rules.ts';
import { branchOfRef, type UntrustedJson, shaOf } from '../../kernel/json/untrusted-json-rules.ts';
import type { HookContent, HostEvent } from './host-events-rules.ts';
import { buildStateOf } from './build-state-rules.ts';

/** Events of host-a (GitHub: push, create, delete, status, workflow_run, pull_request, pull_request_review, issues), whose names come in a header. */
export function readHostA(body: UntrustedJson, event: string): HookContent {
  const repositoryIdentifier = body.at('repository', 'full_name').text();
  const nothing = { repositoryIdentifier, isPush: false, events: [], pullRequest: null, occurredAt: null };
  if (event === 'push') return { ...nothing, isPush: true, ...push(body) };
  // A push of more than three tags sends no other hooks than these.
  if (event === 'create' || event === 'delete') return { ...nothing, isPush: true };
  if (event === 'workflow_run') return { ...nothing, ...workflowRun(body.at('workflow_run')) };
  if (event === 'issues') {
    const workItem = readIssueA(body.at('issue'), repositoryIdentifier);
    return { ...nothing, workItem, occurredAt: workItem?.at ?? null };
  }
  if (event === 'status') return { ...nothing, ...commitStatus(body) };
  if (event === 'pull_request' || event === 'pull_request_review') return { ...nothing, ...pullRequest(body) };
  return nothing;
}

function pullRequest(body: UntrustedJson): Pick<HookContent, 'pullRequest' | 'occurredAt'> {
  const report = readPullRequestA(body.at('pull_request'));
  if (!report) return { pullRequest: null, occurredAt: null };
  return { pullRequest: { report, given: readReviewA(body.at('review')) }, occurredAt: report.changedAt };
}

type HookEvents = Pick<HookContent, 'events' | 'occurredAt'>;

function push(body: UntrustedJson): HookEvents {
  const [branch, commitId] = [branchOfRef(body.at('ref').text()), shaOf(body.at('after'))];
  const head = body.at('head_commit');
  const events: HostEvent[] =
    branch === null || commitId === null
      ? []
      : [
          {
            kind: 'push',
            branch,
            commitId,
            message: head.at('message').text(),
            author: head.at('author', 'name').text(),
            date: head.at('timestamp').dateTime(),
          },
        ];
  return { events, occurredAt: body.at('repository', 'pushed_at').dateTime() };
}

function workflowRun(run: UntrustedJson): HookEvents {
  const commitId = shaOf(run.at('head_sha'));
  const at = run.at('updated_at').dateTime();
  const status = run.at('status').text();
  const events: HostEvent[] =
    commitId === null
      ? []
      : [
          {
            kind: 'status',
            commitId,
            branch: run.at('head_branch').text(),
            context: run.at('name').text(255) ?? 'workflow',
            state: buildStateOf(status === 'completed' ? run.at('conclusion').text() : status),
            at,
            buildUrl: run.at('html_url').link(),
            buildNumber: run.at('run_number').text(),
            isPr: (run.at('event').text() ?? '').startsWith('pull_request'),
            prNumber: run.at('pull_requests', 0, 'number').integer(),
            message: run.at('head_commit', 'message').text(),
            author: run.at('head_commit', 'author', 'name').text(),
            date: run.at('head_commit', 'timestamp').dateTime(),
          },
        ];
  return { events, occurredAt: at };
}

function commitStatus(body: UntrustedJson): HookEvents {
  const commitId = shaOf(body.at('sha'));
  const at = body.at('updated_at').dateTime();
  const commit = body.at('commit', 'commit');
  const events: HostEvent[] =
    commitId === null
      ? []
      : [
          {
            kind: 'status',
            commitId,
            branch: body.at('branches', 0, 'name').text(),
            context: body.at('context').text(255) ?? 'status',
            state: buildStateOf(body.at('state').text()),
            at,
            buildUrl: body.at('target_url').link(),
            buildNumber: null,
            isPr: false,
            prNumber: null,
            message: commit.at('message').text(),
            author: commit.at('author', 'name').text(),
            date: commit.at('author', 'date').dateTime(),
          },
        ];
  return { events, occurredAt: at };
}
