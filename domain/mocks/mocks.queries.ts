import { sql } from 'kysely';
import type { Reads } from '../kernel/data/fenced-reads.ts';
import { notFound } from '../kernel/shared/errors.ts';
import { tenantSlugOf } from '../kernel/tenants/tenants.queries.ts';

export const workspaceByName = ({ db, tenantId }: Reads, name: string) =>
  db
    .selectFrom('mock_workspace')
    .where('tenantId', '=', tenantId)
    .where('name', '=', name)
    .select(['id', 'name', 'key', 'keyHash'])
    .executeTakeFirst();

/** The workspace until the transaction ends: scenarios are armed and created one after the other. */
export const lockWorkspace = ({ db, tenantId }: Reads, name: string) =>
  db
    .selectFrom('mock_workspace')
    .where('tenantId', '=', tenantId)
    .where('name', '=', name)
    .select(['id', 'name', 'key', 'keyHash'])
    .forUpdate()
    .executeTakeFirst();

const summaries = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('mock_scenario as s')
    .innerJoin('mock_workspace as w', (join) =>
      join.onRef('w.tenantId', '=', 's.tenantId').onRef('w.id', '=', 's.workspaceId'),
    )
    .innerJoin('mock_run as r', (join) =>
      join.onRef('r.tenantId', '=', 's.tenantId').onRef('r.scenarioId', '=', 's.id').on('r.name', '=', ''),
    )
    .where('s.tenantId', '=', tenantId)
    .select([
      's.id',
      's.workspaceId',
      's.name',
      'w.name as workspace',
      'w.key',
      's.description',
      's.status',
      's.mode',
      's.upstream',
      's.upstreams',
      's.unmatched',
      's.seed',
      's.round',
      's.armedUntil',
      's.createdBy',
      's.updatedBy',
      's.createdAt',
      's.updatedAt',
      'r.cursor',
      'r.hits',
      sql<number>`(select count(*)::int from mock_step t where t.tenant_id = s.tenant_id and t.scenario_id = s.id)`.as(
        'stepCount',
      ),
      sql<number>`(s.matched_before + (select sum(x.matched) from mock_run x
        where x.tenant_id = s.tenant_id and x.scenario_id = s.id))::int`.as('matched'),
      sql<number>`(s.unmatched_before + (select sum(x.unmatched) from mock_run x
        where x.tenant_id = s.tenant_id and x.scenario_id = s.id))::int`.as('unmatchedCalls'),
    ]);

export type ScenarioRow = Awaited<ReturnType<ReturnType<typeof summaries>['execute']>>[number];

/** Throws `not_found`. */
export async function scenarioByName(reads: Reads, workspace: string, name: string): Promise<ScenarioRow> {
  const row = await summaries(reads).where('w.name', '=', workspace).where('s.name', '=', name).executeTakeFirst();
  if (!row) throw notFound('The scenario');
  return row;
}

/** Scenarios of a workspace by their names. */
export async function listScenarios(
  reads: Reads,
  workspace: string,
  { limit, offset }: { limit: number; offset: number },
) {
  const [items, counted] = await Promise.all([
    summaries(reads).where('w.name', '=', workspace).orderBy('s.name').limit(limit).offset(offset).execute(),
    reads.db
      .selectFrom('mock_scenario as s')
      .innerJoin('mock_workspace as w', (join) =>
        join.onRef('w.tenantId', '=', 's.tenantId').onRef('w.id', '=', 's.workspaceId'),
      )
      .where('s.tenantId', '=', reads.tenantId)
      .where('w.name', '=', workspace)
      .select(sql<number>`count(*)::int`.as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { items, total: counted.total };
}

/** Numbers of the steps of a scenario in their order, with the bytes of their bodies. */
export const stepSizes = ({ db, tenantId }: Reads, scenarioId: string) =>
  db
    .selectFrom('mock_step')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .orderBy('seq')
    .select(['seq', sql<number>`coalesce(octet_length(body), 0)`.as('bytes')])
    .execute();

const STEP_COLUMNS = ['seq', 'request', 'response', 'body', 'bodyForm', 'times'] as const;

export const stepsBySeq = ({ db, tenantId }: Reads, scenarioId: string, seqs: readonly number[]) =>
  db
    .selectFrom('mock_step')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .where('seq', '=', sql<number>`any (${seqs}::int[])`)
    .orderBy('seq')
    .select(STEP_COLUMNS)
    .execute();

export type StepRow = Awaited<ReturnType<typeof stepsBySeq>>[number];

/** So many bytes of bodies are read at a time. */
const READ_BYTES = 4 * 1024 * 1024;

/** All steps of a scenario in their order, some at a time. */
export async function* stepsOf(reads: Reads, scenarioId: string): AsyncGenerator<StepRow> {
  let seqs: number[] = [];
  let bytes = 0;
  for (const size of await stepSizes(reads, scenarioId)) {
    if (seqs.length > 0 && (bytes + size.bytes > READ_BYTES || seqs.length >= 200)) {
      yield* await stepsBySeq(reads, scenarioId, seqs);
      [seqs, bytes] = [[], 0];
    }
    seqs.push(size.seq);
    bytes += size.bytes;
  }
  if (seqs.length > 0) yield* await stepsBySeq(reads, scenarioId, seqs);
}

/** Armed scenarios that have expired, of all tenants. @param db of the system role. */
export const overdueScenarios = (db: Reads['db'], limit: number) =>
  db
    .selectFrom('mock_scenario as s')
    .where('s.status', '=', 'armed')
    .where('s.armedUntil', '<=', sql<string>`now()`)
    .orderBy('s.armedUntil')
    .limit(limit)
    .select(['s.id', 's.tenantId', tenantSlugOf('s.tenantId')])
    .execute();

export async function nameOfWorkspace({ db, tenantId }: Reads, id: string): Promise<string> {
  const { name } = await db
    .selectFrom('mock_workspace')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('name')
    .executeTakeFirstOrThrow();
  return name;
}
