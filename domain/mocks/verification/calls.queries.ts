import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { MockOutcome } from '../mocks.entities.ts';

export interface CallFilter {
  /** Name of a run, as `X-Mock-Run` gives it; empty for calls without it. */
  run?: string | undefined;
  outcome?: MockOutcome | undefined;
  /** Number of one round: the calls between two rewinds. */
  round?: number | undefined;
  /** Only calls from then on. */
  since?: Date | undefined;
}

const COLUMNS = [
  'number',
  'calledAt',
  'run',
  'outcome',
  'seq',
  'method',
  'path',
  'status',
  'fault',
  'request',
] as const;

const callsOf = ({ db, tenantId }: Reads, scenarioId: string, { run, outcome, round, since }: CallFilter) =>
  db
    .selectFrom('mock_call')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .$if(run !== undefined, (query) => query.where('run', '=', run ?? ''))
    .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? 'matched'))
    .$if(round !== undefined, (query) => query.where('round', '=', round ?? 0))
    .$if(since !== undefined, (query) => query.where('calledAt', '>=', (since ?? new Date(0)).toISOString()));

/** Calls of a scenario, newest first. */
export async function listCalls(
  reads: Reads,
  scenarioId: string,
  { limit, offset, ...filter }: CallFilter & { limit: number; offset: number },
) {
  const [items, { total }] = await Promise.all([
    callsOf(reads, scenarioId, filter).orderBy('number', 'desc').limit(limit).offset(offset).select(COLUMNS).execute(),
    callsOf(reads, scenarioId, filter).select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

/** Calls behind a number, in their order. */
export const callsAfter = (
  reads: Reads,
  scenarioId: string,
  filter: CallFilter,
  { after, limit }: { after: string; limit: number },
) =>
  callsOf(reads, scenarioId, filter)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .select(COLUMNS)
    .execute();

export type CallRow = Awaited<ReturnType<typeof callsAfter>>[number];

/** Which requests had no step, how often, and when last. */
export const unmatchedCalls = (reads: Reads, scenarioId: string, filter: CallFilter, limit: number) =>
  callsOf(reads, scenarioId, { ...filter, outcome: 'unmatched' })
    .groupBy(['method', 'path'])
    .orderBy(sql`count(*)`, 'desc')
    .orderBy('method')
    .orderBy('path')
    .limit(limit)
    .select(['method', 'path', sql<number>`count(*)::int`.as('count'), sql<string>`max(called_at)`.as('lastAt')])
    .execute();

/** How many calls ended how, and which faults they met. */
export const callCounts = (reads: Reads, scenarioId: string, filter: CallFilter) =>
  callsOf(reads, scenarioId, filter)
    .groupBy(['outcome', 'fault'])
    .select(['outcome', 'fault', sql<number>`count(*)::int`.as('count')])
    .execute();

/** Runs of a scenario, the one without a name first. */
export const runsOf = ({ db, tenantId }: Reads, scenarioId: string) =>
  db
    .selectFrom('mock_run')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .orderBy('name')
    .select(['name', 'cursor', 'hits', 'variables', 'matched', 'unmatched', 'usedAt'])
    .execute();

/** What each step expects and how often it answers, without its body. */
export const stepHeads = ({ db, tenantId }: Reads, scenarioId: string) =>
  db
    .selectFrom('mock_step')
    .where('tenantId', '=', tenantId)
    .where('scenarioId', '=', scenarioId)
    .orderBy('seq')
    .select(['seq', 'request', 'times', sql<number>`(response->>'status')::int`.as('status')])
    .execute();
