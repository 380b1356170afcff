import { sql, type SqlBool } from 'kysely';
import { isOneOf } from '../kernel/data/conditions.ts';
import type { Reads } from '../kernel/data/fenced-reads.ts';
import { isActive, SCENARIO_STATUSES } from './scenarios/scenario-rules.ts';

/** One page of workspaces by name, with their keys as they are stored, and how many there are. */
export async function listWorkspaces({ db, tenantId }: Reads, { limit, offset }: { limit: number; offset: number }) {
  const { total } = await db
    .selectFrom('mock_workspace')
    .where('tenantId', '=', tenantId)
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  const items = await db
    .selectFrom('mock_workspace as w')
    .where('w.tenantId', '=', tenantId)
    .orderBy('w.name')
    .limit(limit)
    .offset(offset)
    .select((eb) => [
      'w.id as workspaceId',
      'w.name',
      'w.key',
      'w.createdAt',
      eb
        .selectFrom('mock_scenario as s')
        .whereRef('s.tenantId', '=', 'w.tenantId')
        .whereRef('s.workspaceId', '=', 'w.id')
        .select(sql<number>`count(*)::int`.as('count'))
        .$asScalar()
        .$notNull()
        .as('scenarios'),
      eb
        .selectFrom('mock_scenario as s')
        .whereRef('s.tenantId', '=', 'w.tenantId')
        .whereRef('s.workspaceId', '=', 'w.id')
        .where((scenario) => isOneOf(scenario, 's.status', SCENARIO_STATUSES.filter(isActive)))
        // One that is armed past its time has stopped, though no sweep has written that yet.
        .where(sql<SqlBool>`(s.armed_until is null or s.armed_until > now())`)
        .orderBy('s.name')
        .limit(1)
        .select('s.name')
        .as('activeScenario'),
    ])
    .execute();
  return { items, total };
}
