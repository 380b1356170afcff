import { z } from 'zod';
import { plainTextOf } from '../../../domain/work/work-items/document-tree-rules.ts';
import { customFields, shownDescription } from '../../../domain/work/work-items/work-item-rules.ts';
import type { WorkItem, WorkItemSummary } from '../../../domain/work/work-items/work-tracker.port.ts';

export const SUMMARY_FIELDS = ['summary', 'issuetype', 'status', 'priority', 'updated'];
const Named = z.looseObject({ name: z.string() });
const Person = z.looseObject({
  accountId: z.string().nullish(),
  displayName: z.string().default(''),
  emailAddress: z.string().nullish(),
  avatarUrls: z.record(z.string(), z.string()).nullish(),
});
export const Issue = z.looseObject({
  id: z.string(),
  key: z.string(),
  fields: z.looseObject({
    summary: z.string().nullish(),
    description: z.unknown().optional(),
    issuetype: Named.nullish(),
    status: Named.extend({ statusCategory: z.looseObject({ key: z.string() }).nullish() }),
    priority: Named.nullish(),
    assignee: Person.nullish(),
    reporter: Person.nullish(),
    labels: z.array(z.string()).nullish(),
    created: z.string().nullish(),
    updated: z.string().nullish(),
    parent: z
      .looseObject({
        id: z.string(),
        key: z.string(),
        fields: z.looseObject({ summary: z.string().nullish() }).nullish(),
      })
      .nullish(),
  }),
});
export type Issue = z.output<typeof Issue>;
/** Jira writes offsets without a colon. */
const isoOf = (text: string | null | undefined): string => {
  const at = new Date((text ?? '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return (Number.isNaN(at.getTime()) ? new Date(0) : at).toISOString();
};
export const timeOf = ({ fields }: Issue): number => Date.parse(isoOf(fields.updated));
export const isClosed = ({ fields }: Issue): boolean => fields.status.statusCategory?.key === 'done';

export const summaryOf = ({ id, key, fields }: Issue, urlOf: (key: string) => string): WorkItemSummary => ({
  id,
  key,
  title: fields.summary ?? '',
  type: fields.issuetype?.name ?? 'issue',
  status: fields.status.name,
  priority: fields.priority?.name ?? null,
  platform: 'tracker-a',
  url: urlOf(key),
});

function personOf(person: z.output<typeof Person> | null | undefined) {
  if (!person) return null;
  const { accountId, displayName, emailAddress, avatarUrls } = person;
  return {
    id: accountId ?? displayName,
    name: displayName,
    email: emailAddress ?? null,
    avatarUrl: avatarUrls?.['48x48'] ?? null,
  };
}

const SHOWN = new Set([...SUMMARY_FIELDS, 'description', 'assignee', 'reporter', 'labels', 'created', 'parent']);

export function shownIssue(issue: Issue, urlOf: (key: string) => string): WorkItem {
  const { fields } = issue;
  const { parent } = fields;
  const reporter = personOf(fields.reporter);
  return {
    ...summaryOf(issue, urlOf),
    description: shownDescription(plainTextOf(fields.description)),
    assignee: personOf(fields.assignee),
    reporter: reporter && { id: reporter.id, name: reporter.name, email: reporter.email },
    labels: fields.labels ?? [],
    createdAt: isoOf(fields.created),
    updatedAt: isoOf(fields.updated),
    parent: parent ? { id: parent.id, key: parent.key, title: parent.fields?.summary ?? null } : null,
    customFields: customFields(fields, (name) => SHOWN.has(name), plainValue),
    isClosed: isClosed(issue),
  };
}

/** Documents as text; people, options and versions by their names. */
function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== 'object' || value === null) return value;
  const { type, displayName, name, value: option } = value as Record<string, unknown>;
  if (type === 'doc') return plainTextOf(value);
  return displayName ?? name ?? option ?? value;
}
