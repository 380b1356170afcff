import { CompiledQuery, sql } from 'kysely';
import { COMMIT_WITH_NEXT } from '../../kernel/data/dialect.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { CalledRequest, MockOutcome } from '../mocks.entities.ts';

/** The workspace of a key, before a tenant is known. */
export const findMockWorkspace = statement<{ hash: string }>()((db, { hash }) =>
  db
    .selectFrom(sql<{ tenantId: string; workspaceId: string }>`mock_workspace_of(${hash})`.as('w'))
    .select(['w.tenantId', tenantSlugOf('w.tenantId'), 'w.workspaceId']),
);

const setFence = statement<{ tenantId: string }>()(
  (_, { tenantId }) => sql`select set_config('app.tenant_id', ${tenantId}, true)`,
);

/** Runs a work in a transaction of a tenant. */
export const inTenant = <T>(db: Database, tenantId: string, work: (tx: Database) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (tx) => {
    await setFence(tx, { tenantId });
    return work(tx);
  });

/** What is active in a workspace that has this key; undefined where the key is another one now. */
export async function activeScenario(
  db: Database,
  { tenantId, workspaceId, keyHash }: { tenantId: string; workspaceId: string; keyHash: string },
) {
  const [row] = await ACTIVE(db, { tenantId, workspaceId, keyHash });
  if (!row) return undefined;
  const { workspace, id, ...scenario } = row;
  return { workspace, scenario: id === null ? undefined : { ...scenario, id } };
}

const ACTIVE = statement<{ tenantId: string; workspaceId: string; keyHash: string }>()((db, given) =>
  db
    .selectFrom('mock_workspace as w')
    .leftJoin('mock_scenario as s', (join) =>
      join
        .onRef('s.tenantId', '=', 'w.tenantId')
        .onRef('s.workspaceId', '=', 'w.id')
        .on(sql<boolean>`(s.status = 'recording' or s.status = 'armed' and s.armed_until > now())`),
    )
    .where('w.tenantId', '=', given.tenantId)
    .where('w.id', '=', given.workspaceId)
    .where('w.keyHash', '=', given.keyHash)
    .select([
      'w.name as workspace',
      's.id',
      's.name',
      's.status',
      's.mode',
      's.version',
      's.round',
      's.seed',
      's.upstream',
      's.upstreams',
      's.unmatched',
    ]),
);

type Active = NonNullable<Awaited<ReturnType<typeof activeScenario>>>['scenario'];
/** What says how a scenario answers. */
export type ActiveScenario = {
  [K in keyof NonNullable<Active>]: K extends 'upstream' ? NonNullable<Active>[K] : NonNullable<NonNullable<Active>[K]>;
};

/** Bodies up to this size are kept with the compiled steps, and those into which something of the request is put. */
export const SMALL_BODY_BYTES = 16 * 1024;

/** All steps of a scenario, without long bodies. */
export const stepsToCompile = (db: Database, tenantId: string, scenarioId: string) =>
  db
    .selectFrom('mock_step')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .orderBy('seq')
    .select([
      'seq',
      'request',
      'response',
      'times',
      'bodyForm',
      sql<Uint8Array | null>`case when octet_length(body) <= ${sql.lit(SMALL_BODY_BYTES)} or response @> '{"template": true}'
        or response->'echo' is not null then body end`.as('body'),
    ])
    .execute();

export const bodyOfStep = statement<{ tenantId: string; scenarioId: string; seq: number }>()((db, given) =>
  db
    .selectFrom('mock_step')
    .where('tenantId', '=', given.tenantId)
    .where('scenarioId', '=', given.scenarioId)
    .where('seq', '=', given.seq)
    .select('body'),
);

/** Runs that nobody used for so long are over: the next request of their name begins anew. */
const RUN_LIFE = sql`interval '1 hour'`;
export const RUNS_MAX = 100;

/** The states of runs, locked until the transaction ends; those that are new are made while there is room. */
export async function lockRuns(db: Database, tenantId: string, scenarioId: string, names: readonly string[]) {
  const named = names.filter((name) => name !== '');
  if (named.length > 0) await makeRuns(db, tenantId, scenarioId, named);
  return db
    .selectFrom('mock_run')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .where('name', '=', sql<string>`any (${names}::text[])`)
    .orderBy('name')
    .forUpdate()
    .select(['name', 'revision', 'cursor', 'hits', 'variables', 'matched', 'unmatched'])
    .execute();
}

async function makeRuns(db: Database, tenantId: string, scenarioId: string, names: readonly string[]): Promise<void> {
  await sql`
    with gone as (
      delete from mock_run where tenant_id = ${tenantId} and scenario_id = ${scenarioId} and name <> ''
        and used_at < now() - ${RUN_LIFE}
      returning matched, unmatched)
    update mock_scenario s set matched_before = matched_before + g.matched, unmatched_before = unmatched_before + g.unmatched
    from (select sum(matched)::int as matched, sum(unmatched)::int as unmatched from gone) g
    where s.tenant_id = ${tenantId} and s.id = ${scenarioId} and g.matched is not null`.execute(db);
  await sql`
    insert into mock_run (tenant_id, scenario_id, name)
    select ${tenantId}, ${scenarioId}, name from unnest(${names}::text[]) as n (name)
    where not exists (select from mock_run r
      where r.tenant_id = ${tenantId} and r.scenario_id = ${scenarioId} and r.name = n.name)
    order by name
    limit greatest(0, ${RUNS_MAX}::int - (select count(*)::int - 1 from mock_run r
      where r.tenant_id = ${tenantId} and r.scenario_id = ${scenarioId}))
    on conflict do nothing`.execute(db);
}

/** How a batch of calls changes one run. */
export interface RunChange {
  run: string;
  /** Revision of the state that the calls were answered by. */
  revision: number;
  cursor: number;
  /** How often each step that answered has done so by now, by the step's number. */
  hits: Record<string, number>;
  variables: unknown;
  matched: number;
  unmatched: number;
}

export interface CallNote {
  run: string;
  outcome: MockOutcome;
  seq: number | null;
  method: string;
  path: string;
  status: number | null;
  fault: string | null;
  request: CalledRequest;
}

interface Batch {
  tenantId: string;
  workspaceId: string;
  keyHash: string;
  scenarioId: string;
  version: number;
  round: number;
  changes: string;
  calls: string;
}

/** Moves runs on and notes their calls; a run whose state is another one, or whose scenario is, stays as it is. */
const ADVANCE = statement<Batch>()(
  (_, b) => sql<{ name: string }>`
    with armed as materialized (
      select s.id from mock_scenario s
      join mock_workspace w on w.tenant_id = s.tenant_id and w.id = s.workspace_id
      where s.tenant_id = ${b.tenantId} and s.id = ${b.scenarioId} and s.version = ${b.version}
        and s.status = 'armed' and s.armed_until > now() and w.id = ${b.workspaceId} and w.key_hash = ${b.keyHash}),
    asked as materialized (
      select * from jsonb_to_recordset(${b.changes}::jsonb) as a (run text, revision int, cursor int, hits jsonb,
        variables jsonb, matched int, unmatched int)),
    advanced as (
      update mock_run r set revision = r.revision + 1, cursor = a.cursor, hits = r.hits || a.hits,
        variables = a.variables, matched = r.matched + a.matched, unmatched = r.unmatched + a.unmatched, used_at = now()
      from asked a
      where r.tenant_id = ${b.tenantId} and r.scenario_id = ${b.scenarioId} and r.name = a.run
        and r.revision = a.revision and exists (select from armed)
        and (r.name = '' or r.used_at > now() - ${RUN_LIFE})
      returning r.name),
    noted as (
      insert into mock_call (tenant_id, scenario_id, run, round, outcome, seq, method, path, status, fault, request)
      select ${b.tenantId}, ${b.scenarioId}, c.run, ${b.round}, c.outcome, c.seq, c.method, c.path, c.status, c.fault,
        c.request
      from jsonb_to_recordset(${b.calls}::jsonb) as c (run text, outcome text, seq int, method text, path text,
        status int, fault text, request jsonb)
      where exists (select from advanced v where v.name = c.run))
    select name from advanced`,
);

const LAST = CompiledQuery.raw(COMMIT_WITH_NEXT);

export type AdvanceParameters = Omit<Batch, 'changes' | 'calls'> & {
  changes: readonly RunChange[];
  calls: readonly CallNote[];
};

/**
 * Moves runs on and notes the calls in their order, as the last statement of the transaction. Answers the names of the
 * runs whose state was the known one; of all others nothing is written.
 */
export async function advanceRuns(tx: Database, { changes, calls, ...batch }: AdvanceParameters): Promise<Set<string>> {
  await tx.executeQuery(LAST);
  const rows = await ADVANCE(tx, { ...batch, changes: JSON.stringify(changes), calls: JSON.stringify(calls) });
  return new Set(rows.map(({ name }) => name));
}

/** Keeps the newest calls of each scenario, and none that are older than some days; answers how many went. */
export async function purgeCalls(db: Database, { kept, days }: { kept: number; days: number }): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    with removed as (
      delete from mock_call c using mock_scenario s
      where c.tenant_id = s.tenant_id and c.scenario_id = s.id
        and (c.called_at < now() - make_interval(days => ${days}::int)
          or c.number <= coalesce((select x.number from mock_call x
            where x.tenant_id = s.tenant_id and x.scenario_id = s.id
            order by x.number desc offset ${kept}::int limit 1), 0))
      returning 1)
    select count(*)::int as removed from removed`.execute(db);
  return rows[0]?.removed ?? 0;
}
