import { type Selectable, sql } from 'kysely';
import { batch, insertBatch } from '../../kernel/data/batches.ts';
import { isOneOfNumbers } from '../../kernel/data/conditions.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

/** What hosts say of a pull request, and what follows from it. */
const REPORTED = {
  number: 'int',
  title: 'text',
  url: 'text',
  state: 'text',
  isDraft: 'boolean',
  author: 'text',
  authorKey: 'text',
  authorAvatarUrl: 'text',
  branch: 'text',
  baseBranch: 'text',
  headSha: 'text',
  baseSha: 'text',
  mergeCommitSha: 'text',
  labels: 'jsonb',
  requested: 'jsonb',
  reviews: 'jsonb',
  isInReview: 'boolean',
  awaited: 'text[]',
  openedAt: 'timestamptz',
  endedAt: 'timestamptz',
  hostTime: 'timestamptz',
  isFromList: 'boolean',
  changedAt: 'timestamptz',
} as const satisfies Partial<Record<keyof Tables['pull_request'], string>>;

export type ReportedRow = Pick<Selectable<Tables['pull_request']>, keyof typeof REPORTED>;
const COLUMNS = Object.keys(REPORTED) as (keyof typeof REPORTED)[];

/** Pull requests of a project by their numbers, locked in that order until the transaction ends. */
export const lockPullRequests = ({ db, tenantId }: Writes, projectId: string, numbers: readonly number[]) =>
  db
    .selectFrom('pull_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where((eb) => isOneOfNumbers(eb, 'number', numbers))
    .orderBy('number')
    .forUpdate()
    .select(COLUMNS)
    .execute();

/** Adds pull requests, and answers the numbers of those that were not there. */
export async function insertPullRequests(
  { db, tenantId }: Writes,
  projectId: string,
  rows: readonly ReportedRow[],
): Promise<number[]> {
  const added = await insertBatch(db, 'pull_request', { tenantId, projectId }, rows, REPORTED)
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId', 'number']).doNothing())
    .returning('number')
    .execute();
  return added.map(({ number }) => number);
}

/** Replaces what is known of pull requests. */
export async function updatePullRequests(
  { db, tenantId }: Writes,
  projectId: string,
  rows: readonly ReportedRow[],
): Promise<void> {
  const given = COLUMNS.filter((column) => column !== 'number');
  await db
    .updateTable('pull_request as p')
    .from(batch('r', rows, REPORTED))
    .where('p.tenantId', '=', tenantId)
    .where('p.projectId', '=', projectId)
    .whereRef('p.number', '=', 'r.number')
    .set((eb) => ({
      ...Object.fromEntries(given.map((column) => [column, eb.ref(`r.${column}`)])),
      updatedAt: sql`now()`,
    }))
    .execute();
}
