import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { isFinal } from '../../delivery/flows/run-status-rules.ts';
import { type RunState, runStates } from '../../delivery/flows/run-states.queries.ts';
import { isId } from '../../kernel/shared/ids.ts';
import type { ItemsLocation } from '../work-items/tracker-location-rules.ts';
import { keyOfRef, REF_TYPES, spellingsOf } from './item-reference-rules.ts';
import type { ItemKey } from './work-item-requests.queries.ts';

/** The most runs of a work item that are looked at. */
const RUNS_MAX = 20;

/**
 * The open runs of a work item, newest first: those of its project that name it, and those that execute requests made
 * in it.
 * @param location of the project's work items.
 */
export async function openRunsOfItem(
  reads: Reads,
  { projectId, platform, workItemKey }: ItemKey,
  location: ItemsLocation | undefined,
): Promise<RunState[]> {
  const { db, tenantId } = reads;
  const [named, requested] = await Promise.all([
    db
      .selectFrom('flow_run')
      .where('tenantId', '=', tenantId)
      .where('projectId', '=', projectId)
      .where('workItemKey', '=', sql<string>`any (${spellingsOf(platform, workItemKey, location)}::text[])`)
      .where('workItemType', '=', REF_TYPES[platform])
      .where('endedAt', 'is', null)
      .orderBy('createdAt', 'desc')
      .limit(sql.lit(RUNS_MAX))
      .select(['id', 'workItem'])
      .execute(),
    db
      .selectFrom('work_item_request')
      .where('tenantId', '=', tenantId)
      .where('projectId', '=', projectId)
      .where('platform', '=', platform)
      .where('workItemKey', '=', workItemKey)
      .where('executionId', 'is not', null)
      .orderBy('createdAt', 'desc')
      .limit(sql.lit(RUNS_MAX))
      .select('executionId')
      .execute(),
  ]);
  const ofItem = named.filter(({ workItem }) => workItem && keyOfRef(workItem, location) === workItemKey);
  const ids = [
    ...ofItem.map(({ id }) => id),
    ...requested.flatMap(({ executionId }) => executionId ?? []).filter(isId),
  ];
  return (await runStates(reads, ids)).filter(({ rawStatus }) => !isFinal(rawStatus));
}
