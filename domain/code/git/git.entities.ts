import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { PackagesFrom } from './package-rules.ts';

export const GitCommitSchema = defineEntity({
  name: 'GitCommit',
  tableName: 'git_commit',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    /** Number in its repository: parents have smaller ones than their children, and it never changes. */
    seq: p.integer().primary(),
    sha: p.text(),
    /** Numbers of its parents. */
    parents: p.array(Number).columnType('integer[]'),
    authorName: p.text(),
    authorEmail: p.text(),
    authoredAt: p.datetime(3),
    committedAt: p.datetime(3),
    subject: p.text(),
    body: p.text(),
    workItems: p.array(),
    pullRequests: p.array(Number).columnType('integer[]'),
  },
});

export const GitCommitPackageSchema = defineEntity({
  name: 'GitCommitPackage',
  tableName: 'git_commit_package',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    packageNo: p.integer().primary(),
    seq: p.integer().primary(),
    /** Bit n: it differs from its parent n in the paths of the package; bit 0 of a root: from the empty tree. */
    parentBits: p.bigint('string'),
  },
});

export const GitMirrorSchema = defineEntity({
  name: 'GitMirror',
  tableName: 'git_mirror',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    requestedAt: p.datetime(6).defaultRaw('now()'),
    /** When the last fetch began. */
    attemptedAt: p.datetime(6).nullable(),
    /** When the last fetch ended, with success or without. */
    completedAt: p.datetime(6).nullable(),
    nextFetchAt: p.datetime(6).defaultRaw('now()'),
    /** When the remote was last read with success. */
    fetchedAt: p.datetime(3).nullable(),
    /** Failed fetches since then. */
    failures: p.integer().default(0),
    error: p.text().nullable(),
    /** How many commits are imported. */
    commits: p.integer().default(0),
    /** Incremented whenever facts change. */
    revision: p.bigint('string').defaultRaw('0'),
    /** Incremented when what imported commits mention, or count for, changes. */
    workItemsEpoch: p.integer().default(0),
    /** Where the project's packages are listed. */
    packagesFrom: p.text().$type<PackagesFrom>().default('none'),
    workItemFilters: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    /** The default branch with which commits are attributed to merges; null: not imported yet. */
    attributedBranch: p.text().nullable(),
    /** By which version of the rules messages were read; see `MESSAGE_RULES`. */
    messageRules: p.integer().default(0),
  },
});

export const GitPackageSchema = defineEntity({
  name: 'GitPackage',
  tableName: 'git_package',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    packageNo: p.integer().primary(),
    name: p.text(),
    path: p.text(),
    versionNumber: p.text().nullable(),
    /** Names of the packages that have to be installed before it. */
    dependencies: p.array().defaultRaw("'{}'"),
    isCurrent: p.boolean().default(true),
  },
});

export const GitRangeSchema = defineEntity({
  name: 'GitRange',
  tableName: 'git_range',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    packageNo: p.integer().primary(),
    /** -1: from the beginning. */
    fromSeq: p.integer().primary(),
    toSeq: p.integer().primary(),
    /** Newest first. */
    commits: p.array(Number).columnType('integer[]'),
    workItems: p.array(),
    pullRequests: p.array(Number).columnType('integer[]'),
  },
});

export const GitRefSchema = defineEntity({
  name: 'GitRef',
  tableName: 'git_ref',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    kind: p.text().$type<'branch' | 'tag'>().primary(),
    name: p.text().primary(),
    sha: p.text(),
  },
});
