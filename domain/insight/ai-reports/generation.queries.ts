import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ReportKey } from './ai-report-rules.ts';
import type { TokenUsage } from './ai-reports.entities.ts';

const UNDER_WAY = sql<'queued' | 'running'>`('queued', 'running')`;

const ofKey = ({ db, tenantId }: Reads, projectId: string, { branch, scope, scopeName }: ReportKey) =>
  db
    .selectFrom('ai_report')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where('scope', '=', scope)
    .where('scopeName', '=', scopeName);

/** The generation of a key that is queued or runs. */
export const generationUnderWay = (reads: Reads, projectId: string, key: ReportKey) =>
  ofKey(reads, projectId, key).where('status', 'in', UNDER_WAY).select('id').executeTakeFirst();

/** How a report is made. */
export interface ReportMaker {
  provider: string;
  /** Null: without a model. */
  model: string | null;
  promptVersion: number;
}

/** The reports of a key that were made in the same way, newest first, with the digests of their facts. */
export const reportsMadeBy = (
  reads: Reads,
  projectId: string,
  key: ReportKey,
  { provider, model, promptVersion }: ReportMaker,
) =>
  ofKey(reads, projectId, key)
    .where('status', '=', 'completed')
    .where('provider', '=', provider)
    .where('model', 'is not distinct from', model)
    .where('promptVersion', '=', promptVersion)
    .orderBy('analyzedAt', 'desc')
    .select(['id', 'factsDigest'])
    .execute();

/** Tokens and cost of all calls for a report, also of those that failed; null: there was none. */
export async function callsOfReport(
  { db, tenantId }: Reads,
  reportId: string,
): Promise<{ usage: TokenUsage; cost: number | null } | null> {
  const { calls, cost, ...usage } = await db
    .selectFrom('ai_call')
    .where('tenantId', '=', tenantId)
    .where('taskExecutionId', '=', reportId)
    .select([
      sql<number>`count(*)::int`.as('calls'),
      sql<number | null>`sum(cost)`.as('cost'),
      ...(['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite'] as const).map((name) =>
        sql<number>`coalesce(sum(${sql.ref(name)}), 0)::float8`.as(name),
      ),
    ])
    .executeTakeFirstOrThrow();
  return calls === 0 ? null : { usage, cost };
}

/** What the workflow of a report is named by. Throws when there is no such report. */
export const namesOfReport = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('ai_report as r')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'r.tenantId').onRef('p.id', '=', 'r.projectId'))
    .where('r.tenantId', '=', tenantId)
    .where('r.id', '=', id)
    .select(['p.identifier as repositoryIdentifier', 'r.branch'])
    .executeTakeFirstOrThrow();
