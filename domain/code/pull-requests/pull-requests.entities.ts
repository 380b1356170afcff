import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { ChangedFiles } from './changed-files-rules.ts';
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
    /** The author in lower case, by which people are found. */
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
    /** The commits between which the changes lie that follow; null: they are not known yet. */
    comparedBase: p.text().nullable(),
    comparedHead: p.text().nullable(),
    files: jsonColumn<ChangedFiles>().nullable(),
    /** Names of the packages that are changed. */
    packages: p.array().nullable(),
    commitsAhead: p.integer().nullable(),
    commitsBehind: p.integer().nullable(),
    /** Why the changes are not known. */
    detailsError: p.text().nullable(),
    /** The `changedAt` for which reviews were read. */
    reviewsReadAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const PullRequestRefreshSchema = defineEntity({
  name: 'PullRequestRefresh',
  tableName: 'pull_request_refresh',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    attemptedAt: p.datetime(3).nullable(),
    /** When the host's list was last read with success. */
    refreshedAt: p.datetime(3).nullable(),
    /** When all that are open were last read, however long ago they changed. */
    allOpenAt: p.datetime(3).nullable(),
    /** Changes until then are known, by the host's clock. */
    readUntil: p.datetime(3).nullable(),
    /** ETag of the host's last list. */
    etag: p.text().nullable(),
    /** When the last hook about a pull request came. */
    hookAt: p.datetime(3).nullable(),
    nextRefreshAt: p.datetime(3).defaultRaw('now()'),
    /** When the changes of new commits are to be looked at; null: nothing is new. */
    detailsDueAt: p.datetime(3).nullable(),
    failures: p.integer().default(0),
    error: p.text().nullable(),
  },
});
