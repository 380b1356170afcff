import { z } from 'zod';
import { textOfHtml } from '../../../domain/work/work-items/html-text-rules.ts';
import { customFields, shownDescription } from '../../../domain/work/work-items/work-item-rules.ts';
import type { WorkItem, WorkItemSummary } from '../../../domain/work/work-items/work-tracker.port.ts';

export const FIELD = {
  title: 'System.Title',
  type: 'System.WorkItemType',
  state: 'System.State',
  tags: 'System.Tags',
  description: 'System.Description',
  /** What bugs of some processes have instead. */
  reproSteps: 'Microsoft.VSTS.TCM.ReproSteps',
  assignee: 'System.AssignedTo',
  author: 'System.CreatedBy',
  priority: 'Microsoft.VSTS.Common.Priority',
  createdAt: 'System.CreatedDate',
  changedAt: 'System.ChangedDate',
  history: 'System.History',
} as const;
export const SUMMARY_FIELDS = ['System.Id', FIELD.title, FIELD.type, FIELD.state, FIELD.priority];

export const Item = z.looseObject({
  id: z.int(),
  rev: z.int().default(0),
  fields: z.looseObject({
    [FIELD.title]: z.string().default(''),
    [FIELD.type]: z.string(),
    [FIELD.state]: z.string(),
  }),
  relations: z.array(z.looseObject({ rel: z.string(), url: z.string() })).nullish(),
  _links: z.looseObject({ html: z.looseObject({ href: z.string() }).optional() }).nullish(),
});
export type Item = z.output<typeof Item>;
export const Items = z.looseObject({ value: z.array(Item) });
const Identity = z.looseObject({
  displayName: z.string(),
  id: z.string().nullish(),
  uniqueName: z.string().nullish(),
  imageUrl: z.string().nullish(),
});

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const isoOf = (value: unknown): string | undefined => {
  const at = new Date(textOf(value));
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
};

export const tagsOf = ({ fields }: Item): string[] =>
  textOf(fields[FIELD.tags])
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

const priorityText = (priority: unknown): string | null =>
  typeof priority === 'number' || typeof priority === 'string' ? String(priority) : null;

export const summaryOf = ({ id, fields, _links: links }: Item, projectUrl: string): WorkItemSummary => ({
  id: String(id),
  key: String(id),
  title: fields[FIELD.title],
  type: fields[FIELD.type],
  status: fields[FIELD.state],
  priority: priorityText(fields[FIELD.priority]),
  platform: 'host-b',
  url: links?.html?.href ?? `${projectUrl}/_workitems/edit/${id}`,
});

/** An identity is an object, on older servers a text. */
function personOf(value: unknown) {
  const identity = Identity.safeParse(value).data;
  if (identity) {
    const { displayName: name, id, uniqueName, imageUrl } = identity;
    const email = uniqueName?.includes('@') ? uniqueName : null;
    return { id: id ?? uniqueName ?? name, name, email, avatarUrl: imageUrl ?? null };
  }
  const name = textOf(value);
  return name === '' ? null : { id: name, name, email: null, avatarUrl: null };
}

const SHOWN = new Set<string>([...Object.values(FIELD), 'System.Id', 'System.Rev']);

export function shownItem(item: Item, projectUrl: string): Omit<WorkItem, 'parent' | 'isClosed'> {
  const { fields } = item;
  const createdAt = isoOf(fields[FIELD.createdAt]) ?? new Date(0).toISOString();
  const description = textOfHtml(textOf(fields[FIELD.description] ?? fields[FIELD.reproSteps]));
  const author = personOf(fields[FIELD.author]);
  return {
    ...summaryOf(item, projectUrl),
    description: shownDescription(description),
    assignee: personOf(fields[FIELD.assignee]),
    reporter: author && { id: author.id, name: author.name, email: author.email },
    labels: tagsOf(item),
    createdAt,
    updatedAt: isoOf(fields[FIELD.changedAt]) ?? createdAt,
    customFields: customFields(
      fields,
      (name) => SHOWN.has(name),
      (value) => Identity.safeParse(value).data?.displayName ?? value,
    ),
  };
}
