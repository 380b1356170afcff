import { z } from 'zod';
import { TRACKER_PLATFORMS } from '../../../domain/work/work-items/work-tracker.port.ts';
import { JsonObject, Name, NAME_MAX, queryInt, RepositoryIdentifier, WITHOUT_CONTROLS } from '../../http/parameters.ts';
import { RunState } from '../../http/run-state.ts';

const Line = Name.regex(WITHOUT_CONTROLS, 'must not contain control characters');
/** Descriptions and comments; GitHub takes 65,536 characters, some of which the payload needs. */
const LongText = z
  .string()
  .max(60_000)
  .refine((text) => !text.includes('\u0000'), 'must not contain U+0000');
const Names = (max: number) => z.array(Line).max(max);

/** Bodies of the longest texts, all of whose characters are escaped. */
export const BODY_LIMIT_BYTES = 512 * 1_024;

export const byWorkItem = z.object({ id: z.string().max(NAME_MAX).meta({ example: 'SHOP-12' }) });
export const byPlatformAndId = z.object({
  platform: z.enum(TRACKER_PLATFORMS),
  id: z.string().max(NAME_MAX).meta({ example: '12' }),
});

const projectIdentifier = RepositoryIdentifier.optional().meta({
  description: 'The project; required for host-a and host-b, in the query or in the body',
});
export const ProjectInQuery = z.strictObject({ projectIdentifier });

export const WorkItemsQuery = z.strictObject({
  projectIdentifier: RepositoryIdentifier,
  status: Line.optional().meta({
    description:
      'A status of the provider, without regard to case; `open` and `closed` mean the category of statuses everywhere',
  }),
  assignee: Line.optional().meta({
    description:
      'A name, a login of host-a, or an e-mail address; `me`: the caller, for an application token whom the credential of the integration belongs to',
  }),
  type: Line.optional().meta({ description: 'Without regard to case' }),
  maxResults: queryInt(1, 100, 50),
});

export const WorkItemPatch = z.strictObject({
  projectIdentifier,
  title: Line.optional(),
  body: LongText.optional().meta({
    description: 'Replaces the description, except for an automation payload that the work item was created with',
  }),
  state: Line.optional().meta({
    description:
      '`open` or `closed`; host-b also takes the states of its process, and maps these two by the category of states',
  }),
  labels: Names(100).optional().meta({ description: 'Replace all labels' }),
  assignees: Names(10)
    .optional()
    .meta({ description: 'Replace all assignees: logins of host-a; at most one name or e-mail address of host-b' }),
});

export const WorkItemClose = z.strictObject({
  projectIdentifier,
  comment: LongText.min(1).optional().meta({ description: 'Written before the state changes' }),
  reason: Line.optional().meta({
    description:
      'host-a: `completed` (default) or `not_planned`; host-b: a state of its process, or a category of states such as Completed (default), Resolved, Removed',
  }),
});

const person = { id: z.string(), name: z.string(), email: z.string().nullable() };
const summary = {
  id: z.string(),
  key: z.string(),
  title: z.string(),
  type: z.string(),
  status: z.string().meta({ description: "The provider's word" }),
  priority: z.string().nullable(),
  platform: z.enum(TRACKER_PLATFORMS),
  url: z.string(),
};

export const WorkItemSummary = z.object(summary).meta({ id: 'WorkItemSummary' });

export const WorkItem = z
  .object({
    ...summary,
    description: z.string().nullable().meta({ description: 'Plain text; Markdown of host-a as it is written' }),
    assignee: z.object({ ...person, avatarUrl: z.string().nullable() }).nullable(),
    reporter: z.object(person).nullable(),
    labels: z.array(z.string()),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    parent: z
      .object({ id: z.string(), key: z.string(), title: z.string().nullable() })
      .nullable()
      .meta({ description: 'Its title is null where the credential does not see it' }),
    customFields: JsonObject.meta({ description: 'What no other member shows, at most 100 fields' }),
  })
  .meta({ id: 'WorkItem' });

export const WorkItemWithRuns = WorkItem.extend({
  openRuns: z.array(RunState).meta({
    description:
      'Newest first: the runs of the project that name the work item, or execute requests made in it, and have not ended',
  }),
}).meta({ id: 'WorkItemWithRuns' });
