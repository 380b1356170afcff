import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { listRequests } from '../../../domain/work/work-item-requests/request-list.queries.ts';
import { takeCallback } from '../../../domain/work/work-item-requests/work-item-requests.mutations.ts';
import { requestById } from '../../../domain/work/work-item-requests/shown-requests.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { pageReply } from '../../http/replies.ts';
import { CallbackIn, RequestOut, Requests, RequestsQuery } from './work-item-requests.schemas.ts';

const GROUP = 'Work items';

export const workItemRequestsRoutes = [
  defineRoute({
    operationId: 'reportWorkItemRequest',
    method: 'post',
    path: '/api/work-items/requests/callback',
    group: GROUP,
    summary: 'Report what became of a request made in a work item',
    description: [
      '`started` → `in_progress`, `completed` → `completed` (`closed` if the work item is closed, or as soon as it is), `rejected` → `completed`, `failed` → `failed`, `cancelled` → `closed`.',
      'The request is found by `requestId`, else by `executionId`, else it is the newest one of the work item and `taskType`, or the newest of the work item without `taskType`; one that is not known is added.',
      'Order and repetition make no difference: the same event of an execution counts once, within an execution the later `occurredAt` counts, and `started` never undoes an end. The execution that began last decides; its `started` opens the request again, and what is reported of older ones is only noted. Without `executionId` the newest execution is meant, so a request that is executed again needs an `executionId` to be opened again. An `occurredAt` more than ten minutes ahead is refused.',
    ].join('\n\n'),
    roles: ['owner', 'application'],
    projectScope: 'row',
    body: CallbackIn,
    status: 204,
    response: NoContent,
    audit: 'work_item_request.updated',
    isRepeatable: true,
    handle: ({ body: { projectIdentifier, ...callback } }, { tx }) =>
      tx(async (work) =>
        takeCallback(work, await projectInRequest(work, projectIdentifier, 'projectIdentifier'), callback),
      ),
  }),
  defineRoute({
    operationId: 'listWorkItemRequests',
    method: 'get',
    path: '/api/work-items/requests',
    group: GROUP,
    summary: 'List requests made in work items, newest first',
    description: 'Requests of all projects that the caller may see, or of one. `total` is exact.',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: RequestsQuery,
    status: 200,
    response: Requests,
    async handle({ query: { projectIdentifier, status: statuses, limit, offset, ...filter } }, { reads, requestUrl }) {
      const project =
        projectIdentifier === undefined
          ? undefined
          : await projectInRequest(reads, projectIdentifier, 'projectIdentifier');
      if (filter.repositoryIdentifier !== undefined) await projectInRequest(reads, filter.repositoryIdentifier);
      const page = { limit, offset };
      const found = await listRequests(reads, { ...filter, statuses, projectId: project?.id }, page);
      return pageReply(requestUrl, { ...page, total: found.total }, { ...found, ...page });
    },
  }),
  defineRoute({
    operationId: 'getWorkItemRequest',
    method: 'get',
    path: '/api/work-items/requests/{id}',
    group: GROUP,
    summary: 'Get a request made in a work item, with its history',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: RequestOut,
    handle: ({ params: { id } }, { reads }) => requestById(reads, id),
  }),
];
