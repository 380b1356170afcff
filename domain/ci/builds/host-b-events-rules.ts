import { readPullRequestB } from '../../code/pull-requests/host-b-pull-request-rules.ts';
import { readWorkItemB } from '../../work/work-item-requests/item-hooks-rules.ts';
import { branchOfRef, type UntrustedJson, shaOf } from '../../kernel/json/untrusted-json-rules.ts';
import type { HookContent, HostEvent } from './host-events-rules.ts';
import { buildStateOf } from './build-state-rules.ts';

/** Events of host-b (Azure DevOps: git.push, build.complete, git.pullrequest.created, updated and merged, workitem.updated). */
export function readHostB(body: UntrustedJson): HookContent {
  const resource = body.at('resource');
  const nothing = {
    repositoryIdentifier: repositoryOf(resource),
    isPush: false,
    events: [],
    pullRequest: null,
    occurredAt: body.at('createdDate').dateTime(),
  };
  const event = body.at('eventType').text();
  if (event === 'git.push') return { ...nothing, isPush: true, events: pushes(resource) };
  if (event === 'workitem.updated') return { ...nothing, workItem: readWorkItemB(resource, nothing.occurredAt) };
  if (event === 'build.complete') return { ...nothing, events: build(resource, nothing.occurredAt) };
  if (event?.startsWith('git.pullrequest.') && nothing.occurredAt !== null) {
    const webUrl = webUrlOf(resource.at('repository', 'remoteUrl').link());
    const report = readPullRequestB(resource, { hostTime: nothing.occurredAt, webUrl, isHook: true });
    return { ...nothing, pullRequest: report && { report, given: {} } };
  }
  return nothing;
}

/** The address of a repository for people: that of its remote has the organization as the username. */
const webUrlOf = (remoteUrl: string | null): string | null =>
  remoteUrl?.replace(/^(https?:\/\/)[^/@]*@/i, '$1') ?? null;

/** `organization/project/repository`, from the repository's address; hooks of version 1.0 have none. */
function repositoryOf(resource: UntrustedJson): string | null {
  const repository = resource.at('repository');
  const url = repository.at('remoteUrl').text() ?? repository.at('url').text() ?? '';
  const [, organization, project, name] =
    /^https:\/\/(?:[^/@]*@)?([\w-]+)\.visualstudio\.com\/(?:DefaultCollection\/)?([^/]+)\/_git\/([^/?#]+)/.exec(url) ??
    /^https?:\/\/[^/]+\/([^/]+)\/([^/]+)\/_git\/([^/?#]+)/.exec(url) ??
    [];
  // A repository of the project's own name may be addressed without the project.
  const [, owner, only] = /^https?:\/\/[^/]+\/([^/]+)\/_git\/([^/?#]+)/.exec(url) ?? [];
  const parts = organization === undefined ? [owner, only, only] : [organization, project, name];
  return parts.includes(undefined) ? null : parts.map((part = '') => decoded(part)).join('/');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const pushes = (resource: UntrustedJson): HostEvent[] =>
  resource
    .at('refUpdates')
    .items()
    .flatMap((update): HostEvent[] => {
      const [branch, commitId] = [branchOfRef(update.at('name').text()), shaOf(update.at('newObjectId'))];
      if (branch === null || commitId === null) return [];
      const commit = resource
        .at('commits')
        .items()
        .find((each) => shaOf(each.at('commitId')) === commitId);
      const author = commit?.at('author');
      return [
        {
          kind: 'push',
          branch,
          commitId,
          message: commit?.at('comment').text() ?? null,
          author: author?.at('name').text() ?? null,
          date: author?.at('date').dateTime() ?? null,
        },
      ];
    });

function build(resource: UntrustedJson, occurredAt: string | null): HostEvent[] {
  // In version 1.0: `LG:<ref>:<commit>`.
  const [, givenRef = null, givenCommit = ''] =
    /^LG:(.+):([0-9a-f]{40})$/s.exec(resource.at('sourceGetVersion').text() ?? '') ?? [];
  const commitId = shaOf(resource.at('sourceVersion')) ?? (givenCommit || null);
  if (commitId === null) return [];
  const ref = resource.at('sourceBranch').text() ?? givenRef;
  const pr = /^refs\/pull\/(\d{1,9})\//.exec(ref ?? '')?.[1];
  return [
    {
      kind: 'status',
      commitId,
      branch: branchOfRef(ref),
      context: resource.at('definition', 'name').text(255) ?? 'build',
      state: buildStateOf(resource.at('result').text() ?? resource.at('status').text()),
      at: resource.at('finishTime').dateTime() ?? occurredAt,
      buildUrl: resource.at('_links', 'web', 'href').link() ?? resource.at('url').link(),
      buildNumber: resource.at('buildNumber').text(),
      isPr: pr !== undefined,
      prNumber: pr === undefined ? null : Number(pr),
      message: null,
      author: null,
      date: null,
    },
  ];
}
