import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

const drifts = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('mock_drift')
    .where('tenantId', '=', tenantId)
    .select(['id', 'status', 'requestedBy', 'checked', 'skipped', 'findings', 'error', 'createdAt', 'endedAt']);

export const latestDrift = (reads: Reads, scenarioId: string) =>
  drifts(reads)
    .where('scenarioId', '=', scenarioId)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

export const driftUnderWay = (reads: Reads, scenarioId: string) =>
  drifts(reads)
    .where('scenarioId', '=', scenarioId)
    .where('status', 'in', sql<'queued'>`('queued', 'running')`)
    .executeTakeFirst();

/** What a comparison is of. */
export const driftPlace = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('mock_drift as d')
    .innerJoin('mock_scenario as s', (join) =>
      join.onRef('s.tenantId', '=', 'd.tenantId').onRef('s.id', '=', 'd.scenarioId'),
    )
    .where('d.tenantId', '=', tenantId)
    .where('d.id', '=', id)
    .select(['d.scenarioId', 'd.endedAt', 's.name', 's.upstream', 's.upstreams'])
    .executeTakeFirst();
