import { z } from 'zod';
import { invalidField } from '../../../domain/kernel/shared/errors.ts';
import {
  changeWorkItem,
  closeWorkItem,
  listWorkItems,
  readWorkItem,
  type WorkItemScope,
} from '../../../domain/work/work-items/work-items.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent, RepositoryIdentifier } from '../../http/parameters.ts';
import type { Scope } from '../../http/scope.ts';
import {
  BODY_LIMIT_BYTES,
  byPlatformAndId,
  byWorkItem,
  ProjectInQuery,
  WorkItem,
  WorkItemClose,
  WorkItemPatch,
  WorkItemsQuery,
  WorkItemSummary,
  WorkItemWithRuns,
} from './work-items.schemas.ts';

const GROUP = 'Work items';
const CREDENTIALS_READ = 'integration.credentials_read';
const AWAY = ['upstream_error', 'upstream_timeout'] as const;
const PROVIDER =
  "The provider is that of `workItems.provider` in the project's configuration, else the platform of its repository; its credential is the integration of that kind.";

const workItemScope = ({ actor, requestId, tx, reads, now, adapters }: Scope): WorkItemScope => ({
  actor,
  requestId,
  tx,
  reads,
  now,
  findTracker: adapters.workItems.findTracker,
});

/** Named in the query or in the body, or the same in both. */
function projectIn(
  query: { projectIdentifier?: string | undefined },
  body: { projectIdentifier?: string | undefined },
) {
  const { projectIdentifier = body.projectIdentifier } = query;
  if (body.projectIdentifier !== undefined && body.projectIdentifier !== projectIdentifier)
    throw invalidField('projectIdentifier', 'is another one in the query');
  return projectIdentifier;
}

export const workItemsRoutes = [
  defineRoute({
    operationId: 'listWorkItems',
    method: 'get',
    path: '/api/work-items',
    group: GROUP,
    summary: "List work items of a project's provider",
    description: `Newest change first. ${PROVIDER} \`workItems.boards\` narrows the list: tracker-a ids of agile boards and keys of projects, host-b area paths, host-a labels (any of them). Without boards, tracker-a lists what changed within a year; host-a looks at the 500 issues of a label that changed last.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    query: WorkItemsQuery,
    status: 200,
    response: z.array(WorkItemSummary),
    errors: AWAY,
    audit: CREDENTIALS_READ,
    handle: ({ query }, scope) => listWorkItems(workItemScope(scope), query),
  }),
  defineRoute({
    operationId: 'getWorkItem',
    method: 'get',
    path: '/api/work-items/{id}',
    group: GROUP,
    summary: 'Get a work item as its provider has it, with its open runs',
    description: `${PROVIDER} An id that the provider cannot have (tracker-a \`KEY-12\`, the hosts numbers) gets 404, and so does the number of a pull request.`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byWorkItem,
    query: z.strictObject({ projectIdentifier: RepositoryIdentifier }),
    status: 200,
    response: WorkItemWithRuns,
    errors: AWAY,
    audit: CREDENTIALS_READ,
    handle: ({ params: { id }, query }, scope) => readWorkItem(workItemScope(scope), { ...query, id }),
  }),
  defineRoute({
    operationId: 'updateWorkItem',
    method: 'patch',
    path: '/api/work-items/{platform}/{id}',
    group: GROUP,
    summary: 'Update a work item at its git host',
    description:
      "With the credential of the integration of the platform, which is that of the project's repository or its `workItems.provider`. A change that somebody else makes at host-b meanwhile is not overwritten: 409 `version_conflict`. host-a drops labels and assignees that the credential may not set. Not implemented for tracker-a (501).",
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byPlatformAndId,
    query: ProjectInQuery,
    body: WorkItemPatch,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    status: 200,
    response: WorkItem,
    errors: ['version_conflict', 'not_implemented', ...AWAY],
    audit: ['work_item.updated', CREDENTIALS_READ],
    handle: ({ params, query, body }, scope) => {
      const { projectIdentifier: _, ...change } = body;
      return changeWorkItem(workItemScope(scope), { ...params, projectIdentifier: projectIn(query, body) }, change);
    },
  }),
  defineRoute({
    operationId: 'closeWorkItem',
    method: 'post',
    path: '/api/work-items/{platform}/{id}/close',
    group: GROUP,
    summary: 'Close a work item at its git host',
    description:
      'The comment is written before the state changes; a work item that is closed already stays as it is, without the comment. Not implemented for tracker-a (501).',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byPlatformAndId,
    query: ProjectInQuery,
    body: WorkItemClose,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    status: 204,
    response: NoContent,
    errors: ['version_conflict', 'not_implemented', ...AWAY],
    audit: ['work_item.closed', CREDENTIALS_READ],
    handle: ({ params, query, body }, scope) => {
      const { projectIdentifier: _, ...closing } = body;
      return closeWorkItem(workItemScope(scope), { ...params, projectIdentifier: projectIn(query, body) }, closing);
    },
  }),
];
