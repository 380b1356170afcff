import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { type RunState, runStates } from '../../delivery/flows/run-states.queries.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { isId } from '../../kernel/shared/ids.ts';

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

/** Each with the run that is its newest execution; null where that is none of ours. */
async function withRuns<Row extends { executionId: string | null }>(reads: Reads, rows: readonly Row[]) {
  const ids = rows.flatMap(({ executionId }) => executionId ?? []).filter(isId);
  const runs = new Map((await runStates(reads, ids)).map((run) => [run.id, run]));
  return rows.map((row): Row & { execution: RunState | null } => ({
    ...row,
    execution: runs.get(row.executionId ?? '') ?? null,
  }));
}

/** A request as it is shown, with its history and its run. Throws `not_found`. */
export async function requestById(reads: Reads, id: string) {
  const found = await requestsWithProjects(reads)
    .where('r.id', '=', id)
    .select([...SHOWN, 'r.history'])
    .execute();
  const [shown] = await withRuns(reads, found);
  if (!shown) throw notFound('The request');
  return shown;
}

/** Requests of a page, newest first, with their runs. */
export const requestsShown = async (reads: Reads, ids: readonly string[]) =>
  withRuns(
    reads,
    await requestsWithProjects(reads)
      .where('r.id', '=', sql<string>`any (${ids}::uuid[])`)
      .orderBy('r.createdAt', 'desc')
      .orderBy('r.id', 'desc')
      .select(SHOWN)
      .execute(),
  );
export type ShownRequest = Awaited<ReturnType<typeof requestsShown>>[number];
