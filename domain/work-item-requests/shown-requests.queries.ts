import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { notFound } from '../shared/errors.ts';

const SHOWN = [
  'r.id',
  'r.platform',
  'p.identifier as projectIdentifier',
  'r.repositoryIdentifier',
  'r.workItemKey',
  'r.workItemUrl',
  'r.title',
  'r.taskType',
  'r.releaseCandidate',
  'r.createdBy',
  'r.status',
  'r.executionId',
  'r.startedAt',
  'r.completedAt',
  'r.message',
  'r.error',
  'r.result',
  'r.createdAt',
  'r.updatedAt',
] as const;

const requestsWithProjects = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('work_item_request as r')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'r.tenantId').onRef('p.id', '=', 'r.projectId'))
    .where('r.tenantId', '=', tenantId);

/** A request as it is shown, with its history. Throws `not_found`. */
export async function requestById(reads: Reads, id: string) {
  const request = await requestsWithProjects(reads)
    .where('r.id', '=', id)
    .select([...SHOWN, 'r.history'])
    .executeTakeFirst();
  if (!request) throw notFound('The request');
  return request;
}

/** Those of a page, newest first. */
export const requestsShown = (reads: Reads, ids: readonly string[]) =>
  requestsWithProjects(reads)
    .where('r.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('r.createdAt', 'desc')
    .orderBy('r.id', 'desc')
    .select(SHOWN)
    .execute();
export type ShownRequest = Awaited<ReturnType<typeof requestsShown>>[number];
