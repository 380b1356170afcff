import { z } from 'zod';
import { createWithPayload } from '../../../domain/work/work-item-requests/with-payload.ts';
import { PAYLOAD_TYPES } from '../../../domain/work/work-item-requests/payload-types.ts';
import { requestById } from '../../../domain/work/work-item-requests/shown-requests.queries.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { JsonObject, Name, RepositoryIdentifier, Timestamp, WITHOUT_CONTROLS } from '../../http/parameters.ts';
import { RequestOut } from './work-item-requests.schemas.ts';

const Line = Name.regex(WITHOUT_CONTROLS, 'must not contain control characters');

/** The longest text, all of whose characters are escaped, beside a payload. */
const BODY_LIMIT_BYTES = 768 * 1_024;

const WithPayloadIn = z.strictObject({
  projectIdentifier: RepositoryIdentifier,
  title: Line.optional().meta({ description: 'Default: what the task type does' }),
  body: z
    .string()
    .max(60_000)
    .refine((text) => !text.includes('\u0000'), 'must not contain U+0000')
    .default('')
    .meta({ description: 'Text for people' }),
  payload: JsonObject.meta({
    description: `As in \`POST /api/flows/run\`; \`id\` is one of ${PAYLOAD_TYPES.join(', ')}`,
  }),
  labels: z.array(Line).max(100).default([]),
  authToken: z
    .string()
    .min(1)
    .max(8_192)
    .regex(/^[\x21-\x7e]+$/, 'must be a token')
    .meta({ description: "The caller's OAuth token of the provider; it is not stored" }),
  triggerFlow: z.boolean().default(false).meta({ description: 'Start the run that executes the request' }),
});

const CreatedRequest = RequestOut.extend({
  key: z.string().meta({ description: 'Key of the work item' }),
  url: z.string().meta({ description: 'Page of the work item' }),
  flowExecution: z
    .object({ id: z.uuid(), taskType: z.string(), status: z.literal('started'), triggeredAt: Timestamp })
    .optional()
    .meta({
      description: 'The run that was started; absent, with the reason in `message`, if it was refused meanwhile',
    }),
}).meta({ id: 'CreatedWorkItemRequest' });

export const withPayloadRoutes = [
  defineRoute({
    operationId: 'createWorkItemWithPayload',
    method: 'post',
    path: '/api/work-items/with-payload',
    group: 'Work items',
    summary: 'Create a work item with a payload for automation',
    description: [
      "The work item is created with the caller's own token; only the address comes from the integration. The payload is in the work item's text: as a comment on host-a, in a section to unfold on host-b and tracker-a; it also names the request by `requestId`. A token that the provider refuses is 400 of `#/body/authToken`.",
      'The reply is the request; callbacks and the run that executes it report to it. If the answer of the provider is lost, the reply is 502 or 504 and the request stays `creating`, until a callback names it; otherwise it has failed after five minutes.',
      'With `triggerFlow` the payload is checked as in `POST /api/flows/run` before the work item is created; its repository is the project where it names none. The run reports to the work item.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    body: WithPayloadIn,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    status: 201,
    response: CreatedRequest,
    errors: ['flow_unavailable', 'too_few_approvers', 'invalid_transition', 'upstream_error', 'upstream_timeout'],
    audit: ['work_item_request.updated', 'flow.run_requested', 'promotion.overridden', 'integration.credentials_read'],
    async handle({ body }, { adapters, tx, undo, reads, actor, requestId, now }) {
      const { workItems, flows, launch } = adapters;
      const scope = { actor, tx, undo, requestId, now, findTracker: workItems.findTracker, commands: flows.commands };
      const { id, item, run } = await createWithPayload(scope, body);
      if (run) launch.startInBackground(flowRunContract, run);
      return {
        ...(await requestById(reads, id)),
        key: item.key,
        url: item.url,
        ...(run && {
          flowExecution: { id: run.runId, taskType: run.taskType, status: 'started' as const, triggeredAt: now() },
        }),
      };
    },
  }),
];
