import { branchOfRef, type ForeignJson, shaOf } from './foreign-json-rules.ts';
import type { HookContent, HostEvent } from './host-events-rules.ts';
import { stateOfWord } from './host-words-rules.ts';

/** Events of host-a (GitHub: push, create, delete, status, workflow_run), whose names come in a header. */
export function readHostA(body: ForeignJson, event: string): HookContent {
  const repositoryIdentifier = body.at('repository', 'full_name').text();
  const nothing = { repositoryIdentifier, isPush: false, events: [], occurredAt: null };
  if (event === 'push') return { ...nothing, isPush: true, ...push(body) };
  // A push of more than three tags is told by these alone.
  if (event === 'create' || event === 'delete') return { ...nothing, isPush: true };
  if (event === 'workflow_run') return { ...nothing, ...workflowRun(body.at('workflow_run')) };
  if (event === 'status') return { ...nothing, ...commitStatus(body) };
  return nothing;
}

type Told = Pick<HookContent, 'events' | 'occurredAt'>;

function push(body: ForeignJson): Told {
  const [branch, commitId] = [branchOfRef(body.at('ref').text()), shaOf(body.at('after'))];
  const head = body.at('head_commit');
  const moved: HostEvent[] =
    branch === null || commitId === null
      ? []
      : [
          {
            kind: 'push',
            branch,
            commitId,
            message: head.at('message').text(),
            author: head.at('author', 'name').text(),
            date: head.at('timestamp').moment(),
          },
        ];
  return { events: moved, occurredAt: body.at('repository', 'pushed_at').moment() };
}

function workflowRun(run: ForeignJson): Told {
  const commitId = shaOf(run.at('head_sha'));
  const at = run.at('updated_at').moment();
  const status = run.at('status').text();
  const told: HostEvent[] =
    commitId === null
      ? []
      : [
          {
            kind: 'status',
            commitId,
            branch: run.at('head_branch').text(),
            context: run.at('name').text(255) ?? 'workflow',
            state: stateOfWord(status === 'completed' ? run.at('conclusion').text() : status),
            at,
            buildUrl: run.at('html_url').link(),
            buildNumber: run.at('run_number').text(),
            isPr: (run.at('event').text() ?? '').startsWith('pull_request'),
            prNumber: run.at('pull_requests', 0, 'number').integer(),
            message: run.at('head_commit', 'message').text(),
            author: run.at('head_commit', 'author', 'name').text(),
            date: run.at('head_commit', 'timestamp').moment(),
          },
        ];
  return { events: told, occurredAt: at };
}

function commitStatus(body: ForeignJson): Told {
  const commitId = shaOf(body.at('sha'));
  const at = body.at('updated_at').moment();
  const commit = body.at('commit', 'commit');
  const told: HostEvent[] =
    commitId === null
      ? []
      : [
          {
            kind: 'status',
            commitId,
            branch: body.at('branches', 0, 'name').text(),
            context: body.at('context').text(255) ?? 'status',
            state: stateOfWord(body.at('state').text()),
            at,
            buildUrl: body.at('target_url').link(),
            buildNumber: null,
            isPr: false,
            prNumber: null,
            message: commit.at('message').text(),
            author: commit.at('author', 'name').text(),
            date: commit.at('author', 'date').moment(),
          },
        ];
  return { events: told, occurredAt: at };
}
