import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { callCounts, runsOf, stepHeads, unmatchedCalls } from '../verification/calls.queries.ts';
import { latestDrift } from '../drift/drifts.queries.ts';
import { scenarioByName } from '../mocks.queries.ts';

const UNMATCHED_MAX = 50;

/** What became of a rehearsal since the last rewind. Throws `not_found`. */
export async function scenarioReport(reads: Reads, workspace: string, name: string) {
  const row = await scenarioByName(reads, workspace, name);
  const round = { round: row.round };
  const [counts, unmatched, runs, steps, drift] = await Promise.all([
    callCounts(reads, row.id, round),
    unmatchedCalls(reads, row.id, round, UNMATCHED_MAX),
    runsOf(reads, row.id),
    stepHeads(reads, row.id),
    latestDrift(reads, row.id),
  ]);
  const hitsOf = (seq: number) => runs.reduce((sum, { hits }) => sum + (hits[seq] ?? 0), 0);
  const answered = steps.map(({ seq, request: { method, path }, status, times }) => ({
    seq,
    method,
    path,
    status,
    times,
    hits: hitsOf(seq),
  }));
  const sum = (isCounted: (row: (typeof counts)[number]) => boolean): number =>
    counts.filter(isCounted).reduce((total, { count }) => total + count, 0);
  const faults = [...new Set(counts.flatMap(({ fault }) => fault ?? []))].toSorted();
  return {
    name: row.name,
    workspace: row.workspace,
    status: row.status,
    mode: row.mode,
    calls: {
      matched: sum(({ outcome }) => outcome === 'matched'),
      unmatched: sum(({ outcome }) => outcome === 'unmatched'),
      passedOn: sum(({ outcome }) => outcome === 'passed_on'),
      recorded: sum(({ outcome }) => outcome === 'recorded'),
    },
    faults: Object.fromEntries(faults.map((kind) => [kind, sum(({ fault }) => fault === kind)])),
    steps: {
      total: steps.length,
      used: answered.filter(({ hits }) => hits > 0).length,
      unused: answered.filter(({ hits }) => hits === 0),
    },
    unmatched,
    runs: runs.map(({ hits: _hits, ...run }) => run),
    drift: drift ?? null,
  };
}
