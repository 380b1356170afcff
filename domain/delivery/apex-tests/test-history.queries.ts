import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { TestGates } from '../../projects/policies/test-gate-rules.ts';
import type { Tx } from '../../unit-of-work.ts';

/** What a run of tests begins with. */
export interface NewTestRun {
  orgId: string;
  ranSha: string | null;
  commitSha: string | null;
  baseSha: string | null;
  whyUnknown: string | null;
  gates: TestGates;
}

/** Keeps what a run begins with; what was kept first stays. */
export async function keepTestRun({ db, tenantId, now }: Tx, runId: string, run: NewTestRun): Promise<void> {
  await db
    .insertInto('apex_test_run')
    .values({ ...run, tenantId, runId, gates: json(run.gates), beganAt: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Keeps why it is not known which lines that changed the tests cover. */
export async function keepWhyUnknown({ db, tenantId }: Tx, runId: string, whyUnknown: string): Promise<void> {
  await db
    .updateTable('apex_test_run')
    .set({ whyUnknown })
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .execute();
}

/** What a run of tests began with; undefined: it has not begun, or is none. */
export const findTestRun = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('apex_test_run')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .select(['runId', 'orgId', 'ranSha', 'commitSha', 'baseSha', 'whyUnknown', 'gates', 'beganAt'])
    .executeTakeFirst();

export type TestRunRow = NonNullable<Awaited<ReturnType<typeof findTestRun>>>;

interface TestMethod {
  className: string;
  method: string;
}
export const methodKey = ({ className, method }: TestMethod): string => `${className} ${method}`;

/** How a method did in the last runs of the org's tests. */
export interface TestHistory {
  runs: number;
  failures: number;
  /** With one commit it both passed and failed, or it passed when it was run again at once. */
  isFlaky: boolean;
}

/** So many runs of an org's tests, the last ones, say whether a method is flaky. */
const RUNS_LOOKED_AT = 20;

const wantedMethods = (methods: readonly TestMethod[]) => sql`
  wanted as (
    select * from unnest(${methods.map(({ className }) => className)}::text[], ${methods.map(({ method }) => method)}::text[])
      as w (class_name, method))`;

/** How methods did in the last runs in the org of a run; with `isBefore`, in those that began before it. */
export async function testHistory(
  { db, tenantId }: Reads,
  { runId, orgId, beganAt }: TestRunRow,
  methods: readonly TestMethod[],
  { isBefore = false } = {},
): Promise<Map<string, TestHistory>> {
  if (methods.length === 0) return new Map();
  const { rows } = await sql<TestMethod & TestHistory>`
    with recent as (
      select run_id, ran_sha from apex_test_run
      where tenant_id = ${tenantId} and org_id = ${orgId} and began_at <= ${beganAt} and (run_id <> ${runId} or not ${isBefore})
      order by began_at desc limit ${RUNS_LOOKED_AT}),
    ${wantedMethods(methods)},
    by_commit as (
      select r.class_name, r.method, count(*) as runs, count(*) filter (where r.outcome <> 'Pass') as failures,
        bool_or(r.is_repeated and r.outcome = 'Pass')
          or (recent.ran_sha is not null and bool_or(r.outcome = 'Pass') and bool_or(r.outcome <> 'Pass')) as is_flaky
      from wanted
      join apex_test_result r on r.class_name = wanted.class_name and r.method = wanted.method
      join recent on recent.run_id = r.run_id
      where r.tenant_id = ${tenantId} and r.outcome <> 'Skip'
      group by r.class_name, r.method, recent.ran_sha)
    select class_name as "className", method, sum(runs)::int as runs, sum(failures)::int as failures,
      bool_or(is_flaky) as "isFlaky"
    from by_commit group by class_name, method`.execute(db);
  return new Map(rows.map(({ runs, failures, isFlaky, ...test }) => [methodKey(test), { runs, failures, isFlaky }]));
}

/**
 * Which of some methods failed when the org of a run ran its base, by the last run of them before; undefined: none ran any
 * of its tests with it.
 */
export async function failedOnBase(
  { db, tenantId }: Reads,
  { runId, orgId, baseSha, beganAt }: TestRunRow,
  methods: readonly TestMethod[],
): Promise<Set<string> | undefined> {
  if (baseSha === null) return undefined;
  const earlier = sql`
    select run_id, began_at from apex_test_run a
    where tenant_id = ${tenantId} and org_id = ${orgId} and ran_sha = ${baseSha} and began_at <= ${beganAt} and run_id <> ${runId}
      and exists (select from apex_test_result r where r.tenant_id = ${tenantId} and r.run_id = a.run_id)
    order by began_at desc limit ${RUNS_LOOKED_AT}`;
  const { rows } = await sql<Partial<TestMethod> & { outcome: string | null }>`
    with earlier as (${earlier}), ${wantedMethods(methods)}
    select distinct on (r.class_name, r.method) r.class_name as "className", r.method, r.outcome
    from earlier
    left join (
      select o.* from apex_test_result o
      join wanted on wanted.class_name = o.class_name and wanted.method = o.method
      where o.tenant_id = ${tenantId} and o.outcome <> 'Skip') r on r.run_id = earlier.run_id
    order by r.class_name, r.method, earlier.began_at desc`.execute(db);
  if (rows.length === 0) return undefined;
  return new Set(
    rows.flatMap(({ className = '', method = '', outcome }) =>
      outcome === null || outcome === 'Pass' ? [] : [methodKey({ className, method })],
    ),
  );
}
