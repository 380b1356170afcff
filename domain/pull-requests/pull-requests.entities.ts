import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../data/columns.ts';
import type { Label, PullRequestState, Requested, Reviews } from './pull-request-rules.ts';

export const PullRequestSchema = defineEntity({
  name: 'PullRequest',
  tableName: 'pull_request',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    number: p.integer().primary(),
    title: p.text(),
    url: p.text().nullable(),
    state: p.text().$type<PullRequestState>(),
    isDraft: p.boolean(),
    /** Name at the host. */
    author: p.text().nullable(),
    /** The same in lower case, by which people are found. */
    authorKey: p.text().nullable(),
    authorAvatarUrl: p.text().nullable(),
    branch: p.text(),
    baseBranch: p.text(),
    headSha: p.text().nullable(),
    baseSha: p.text().nullable(),
    mergeCommitSha: p.text().nullable(),
    labels: jsonColumn<Label[]>(),
    requested: jsonColumn<Requested>(),
    reviews: jsonColumn<Reviews>(),
    isInReview: p.boolean(),
    /** Names of those whose review is awaited, in lower case. */
    awaited: p.array(),
    openedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
    /** When the host showed it so, by its clock. */
    hostTime: p.datetime(3),
    isFromList: p.boolean(),
    changedAt: p.datetime(3),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class PullRequest extends PullRequestSchema.class {}
PullRequestSchema.setClass(PullRequest);
