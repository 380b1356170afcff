import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import {
  type EndedStatus,
  type KnownNames,
  PROJECT_TEXTS_BYTES_MAX,
  REPORT_KEYS_MAX,
  type ReportKey,
  REPORTS_KEPT,
} from './ai-report-rules.ts';

const COLUMNS = [
  'branch',
  'scope',
  'scopeName',
  'status',
  'commitSha',
  'analyzedAt',
  'provider',
  'model',
  'executionTimeMs',
  'taskExecutionId',
  'usage',
  'cost',
  'error',
  'requestedBy',
  'createdAt',
] as const;
const SUMMARY = ['id as reportId', ...COLUMNS] as const;

const ENDED = sql<EndedStatus>`('completed', 'failed')`;

const reportsOf = ({ db, tenantId }: Reads, projectId: string) =>
  db.selectFrom('ai_report').where('tenantId', '=', tenantId).where('projectId', '=', projectId);

const reportsOfKey = (reads: Reads, projectId: string, { branch, scope, scopeName }: ReportKey) =>
  reportsOf(reads, projectId)
    .where('branch', '=', branch)
    .where('scope', '=', scope)
    .where('scopeName', '=', scopeName)
    .orderBy('analyzedAt', 'desc')
    .orderBy('id', 'desc');

/** A report without its text. */
export type ReportSummary = Awaited<ReturnType<typeof reportHistory>>[number];

/** The newest reports of a key that have ended, newest first. */
export const reportHistory = (reads: Reads, projectId: string, key: ReportKey, limit: number) =>
  reportsOfKey(reads, projectId, key).where('status', 'in', ENDED).limit(limit).select(SUMMARY).execute();

/** The newest report of each key that has ended, by branch, scope and name. */
export const newestReports = (reads: Reads, projectId: string) =>
  reads.db
    .selectFrom(
      reportsOf(reads, projectId)
        .where('status', 'in', ENDED)
        .distinctOn(['branch', 'scope', 'scopeName'])
        .orderBy('branch')
        .orderBy('scope')
        .orderBy('scopeName')
        .orderBy('analyzedAt', 'desc')
        .orderBy('id', 'desc')
        .select(SUMMARY)
        .as('newest'),
    )
    .orderBy('analyzedAt', 'desc')
    .orderBy('reportId', 'desc')
    .limit(sql.lit(REPORT_KEYS_MAX))
    .select(['reportId', ...COLUMNS])
    .execute();

/** The newest report of a key that has a text. */
export const newestWithText = (reads: Reads, projectId: string, key: ReportKey) =>
  reportsOfKey(reads, projectId, key)
    .where('status', 'in', ENDED)
    .where('markdown', 'is not', null)
    .limit(1)
    .select([...SUMMARY, 'markdown'])
    .executeTakeFirst();

/** The generation of a key that is under way, else its newest report. */
export const reportState = (reads: Reads, projectId: string, key: ReportKey) =>
  reportsOfKey(reads, projectId, key)
    .clearOrderBy()
    .orderBy((eb) => eb('status', 'in', ENDED))
    .orderBy('analyzedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .select(['id', 'status', 'taskExecutionId', 'error', 'updatedAt'])
    .executeTakeFirst();

/**
 * Removes the reports of a key but the newest ones, among which the newest with a text always is; what is under way stays.
 * Answers the ids of those that are gone.
 */
export async function removeOldReports(
  { db, tenantId }: Tx,
  projectId: string,
  { branch, scope, scopeName }: ReportKey,
): Promise<string[]> {
  const ofKey = reportsOfKey({ db, tenantId }, projectId, { branch, scope, scopeName }).where('status', 'in', ENDED);
  const latest = ofKey.where('markdown', 'is not', null).limit(1).select('id');
  const kept = ofKey
    .clearOrderBy()
    .orderBy(
      (eb) => eb('id', '=', latest),
      (order) => order.desc().nullsLast(),
    )
    .orderBy('analyzedAt', 'desc')
    .orderBy('id', 'desc');
  const removed = await db
    .deleteFrom('ai_report')
    .where('tenantId', '=', tenantId)
    .where('id', 'in', kept.offset(sql.lit(REPORTS_KEPT)).select('id'))
    .returning('id')
    .execute();
  return removed.map(({ id }) => id);
}

/**
 * Removes the reports of the keys of a project that had none for the longest time, beyond `REPORT_KEYS_MAX` keys and
 * `PROJECT_TEXTS_BYTES_MAX`. Answers the ids of those that are gone.
 */
export async function removeOldKeys({ db, tenantId }: Tx, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with key as materialized (
      select branch, scope, scope_name, max(analyzed_at) as newest, coalesce(sum(octet_length(markdown)), 0) as bytes
      from ai_report
      where tenant_id = ${tenantId} and project_id = ${projectId} and status in ${ENDED} group by 1, 2, 3),
    ranked as materialized (
      select branch, scope, scope_name, row_number() over newer as place, sum(bytes) over newer as total from key
      window newer as (order by newest desc, branch, scope, scope_name))
    delete from ai_report r using ranked k
    where (k.place > ${sql.lit(REPORT_KEYS_MAX)} or k.total > ${sql.lit(PROJECT_TEXTS_BYTES_MAX)})
      and r.tenant_id = ${tenantId} and r.project_id = ${projectId} and r.branch = k.branch and r.scope = k.scope
      and r.scope_name = k.scope_name and r.status in ${ENDED}
    returning r.id`.execute(db);
  return rows.map(({ id }) => id);
}

/** One report of a key at a time is added, until this transaction ends. */
export async function lockReportKey(
  { db, tenantId }: Tx,
  projectId: string,
  { branch, scope, scopeName }: ReportKey,
): Promise<void> {
  const key = `ai-report/${tenantId}/${projectId}/${branch}/${scope}/${scopeName}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 16))`.execute(db);
}

/** Domains that candidates of a project name, and packages of its repository. */
export async function foundNames({ db, tenantId }: Reads, projectId: string): Promise<KnownNames> {
  const [domains, packages] = await Promise.all([
    db
      .selectFrom('release_candidate_count')
      .where('tenantId', '=', tenantId)
      .where('projectId', '=', projectId)
      .where('candidates', '>', '0')
      .distinct()
      .select('domain as name')
      .execute(),
    db
      .selectFrom('git_package')
      .where('tenantId', '=', tenantId)
      .where('projectId', '=', projectId)
      .where('isCurrent', '=', true)
      .select('name')
      .execute(),
  ]);
  return { domain: domains.map(({ name }) => name), package: packages.map(({ name }) => name) };
}
