import { z } from 'zod';
import {
  customFields,
  issueTypeOf,
  priorityOf,
  shownDescription,
} from '../../../domain/work/work-items/work-item-rules.ts';
import type { WorkItem, WorkItemSummary } from '../../../domain/work/work-items/work-tracker.port.ts';

export const User = z.looseObject({
  login: z.string(),
  id: z.number(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  avatar_url: z.string().nullish(),
});
const Time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
export const Label = z.union([z.string(), z.looseObject({ name: z.string().nullish() })]);
export const Issue = z.looseObject({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  html_url: z.string(),
  user: User.nullish(),
  assignee: User.nullish(),
  labels: z.array(Label).default([]),
  type: z.looseObject({ name: z.string() }).nullish(),
  created_at: Time,
  updated_at: Time,
  pull_request: z.unknown().optional(),
  parent_issue_url: z.string().nullish(),
  milestone: z.looseObject({ title: z.string() }).nullish(),
});
export type Issue = z.output<typeof Issue>;
export const isPullRequest = ({ pull_request: request }: Issue): boolean => request !== undefined && request !== null;
export const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();
export const isoOf = (text: string): string => new Date(text).toISOString();

export const namesOf = (labels: readonly z.output<typeof Label>[]): string[] =>
  labels.flatMap((label) => (typeof label === 'string' ? label : (label.name ?? [])));
export const typeOf = ({ type, labels }: Issue): string => issueTypeOf(type?.name, namesOf(labels));

export const summaryOf = (issue: Issue): WorkItemSummary => ({
  id: String(issue.number),
  key: String(issue.number),
  title: issue.title,
  type: typeOf(issue),
  status: issue.state,
  priority: priorityOf(namesOf(issue.labels)),
  platform: 'host-a',
  url: issue.html_url,
});

const personOf = ({ login, id, name, email }: z.output<typeof User>) => ({
  id: String(id),
  name: name ?? login,
  email: email ?? null,
});

/** Members that a work item shows by another name, and what says nothing about it. */
const SHOWN = new Set([
  'id',
  'number',
  'title',
  'body',
  'state',
  'user',
  'assignee',
  'labels',
  'type',
  'created_at',
  'updated_at',
  'locked',
  'reactions',
  'performed_via_github_app',
  'repository',
]);
const isShown = (name: string): boolean => SHOWN.has(name) || /(^|_)(url|id|html|text)$/.test(name);

export const shownIssue = (issue: Issue, parent: WorkItem['parent']): WorkItem => ({
  ...summaryOf(issue),
  description: shownDescription(issue.body),
  assignee: issue.assignee ? { ...personOf(issue.assignee), avatarUrl: issue.assignee.avatar_url ?? null } : null,
  reporter: issue.user ? personOf(issue.user) : null,
  labels: namesOf(issue.labels),
  createdAt: isoOf(issue.created_at),
  updatedAt: isoOf(issue.updated_at),
  parent,
  customFields: customFields(issue, isShown, plainValue),
  isClosed: issue.state === 'closed',
});

/** A user by the login, a milestone by its title. */
function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  const { login, title } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return login ?? title ?? value;
}
