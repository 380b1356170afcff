import { readMergeRequestHook } from '../../code/pull-requests/host-c-pull-request-rules.ts';
import { branchOfRef, type UntrustedJson, shaOf } from '../../kernel/json/untrusted-json-rules.ts';
import type { HookContent, HostEvent } from './host-events-rules.ts';
import { buildStateOf } from './build-state-rules.ts';

/** Events of host-c (GitLab: push, tag_push, pipeline, merge_request). */
export function readHostC(body: UntrustedJson): HookContent {
  const nothing = {
    repositoryIdentifier: body.at('project', 'path_with_namespace').text(),
    isPush: false,
    events: [],
    pullRequest: null,
    occurredAt: null,
  };
  const kind = body.at('object_kind').text();
  if (kind === 'push' || kind === 'tag_push') return { ...nothing, isPush: true, events: push(body) };
  if (kind === 'merge_request') {
    const report = readMergeRequestHook(body);
    return { ...nothing, pullRequest: report && { report, given: {} }, occurredAt: report?.changedAt ?? null };
  }
  if (kind === 'pipeline') return { ...nothing, ...pipeline(body) };
  return nothing;
}

function push(body: UntrustedJson): HostEvent[] {
  const [branch, commitId] = [branchOfRef(body.at('ref').text()), shaOf(body.at('after'))];
  if (branch === null || commitId === null) return [];
  const commit = body
    .at('commits')
    .items()
    .find((each) => shaOf(each.at('id')) === commitId);
  return [
    {
      kind: 'push',
      branch,
      commitId,
      message: commit?.at('message').text() ?? null,
      author: commit?.at('author', 'name').text() ?? null,
      date: commit?.at('timestamp').dateTime() ?? null,
    },
  ];
}

function pipeline(body: UntrustedJson): Pick<HookContent, 'events' | 'occurredAt'> {
  const run = body.at('object_attributes');
  const commitId = shaOf(run.at('sha'));
  const finishedAt = run.at('finished_at').dateTime();
  const prNumber = body.at('merge_request', 'iid').integer();
  const isBranch = !run.at('tag').isTrue() && !(run.at('ref').text() ?? '').startsWith('refs/');
  const events: HostEvent[] =
    commitId === null
      ? []
      : [
          {
            kind: 'status',
            commitId,
            branch: isBranch ? run.at('ref').text() : null,
            context: run.at('name').text(255) ?? 'pipeline',
            state: buildStateOf(run.at('status').text()),
            at: finishedAt ?? run.at('created_at').dateTime(),
            buildUrl: run.at('url').link(),
            buildNumber: run.at('iid').text() ?? run.at('id').text(),
            isPr: prNumber !== null,
            prNumber,
            message: body.at('commit', 'message').text(),
            author: body.at('commit', 'author', 'name').text(),
            date: body.at('commit', 'timestamp').dateTime(),
          },
        ];
  return { events, occurredAt: finishedAt };
}
