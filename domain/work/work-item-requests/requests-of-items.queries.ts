import { sql } from 'kysely';
import type { Tx } from '../../unit-of-work.ts';
import { DECIDED_BY, type ItemKey, type LockedRequest } from './work-item-requests.queries.ts';

/** The requests of a work item, oldest first. */
export const requestsOfItem = (
  { db, tenantId }: Tx,
  { projectId, platform, workItemKey }: ItemKey,
): Promise<LockedRequest[]> =>
  db
    .selectFrom('work_item_request as r')
    .where('r.tenantId', '=', tenantId)
    .where('r.projectId', '=', projectId)
    .where('r.platform', '=', platform)
    .where('r.workItemKey', '=', workItemKey)
    .orderBy('r.createdAt')
    .orderBy('r.id')
    .select(DECIDED_BY)
    .forUpdate()
    .execute();

/** Projects with requests in work items of this key, wherever their work items are. */
export const projectsWithItem = (
  { db, tenantId }: Tx,
  { platform, workItemKey }: Pick<ItemKey, 'platform' | 'workItemKey'>,
) =>
  db
    .selectFrom('project as p')
    .where('p.tenantId', '=', tenantId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('work_item_request as r')
          .where('r.tenantId', '=', tenantId)
          .whereRef('r.projectId', '=', 'p.id')
          .where('r.platform', '=', platform)
          .where('r.workItemKey', '=', workItemKey)
          .select(sql.lit(1).as('one')),
      ),
    )
    .orderBy('p.id')
    .select(['p.id', 'p.identifier', 'p.platform', 'p.configuration'])
    .execute();

/** Whether a work item was closed, as far as its requests know. */
export const knownItemState = ({ db, tenantId }: Tx, { projectId, platform, workItemKey }: ItemKey) =>
  db
    .selectFrom('work_item_request')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('platform', '=', platform)
    .where('workItemKey', '=', workItemKey)
    .where('itemStateAt', 'is not', null)
    .orderBy('itemStateAt', 'desc')
    .limit(sql.lit(1))
    .select(['isItemClosed', 'itemStateAt'])
    .executeTakeFirst();

/** Notes when the state of a work item was last told, which stays as it is. */
export async function keepItemStateTime({ db, tenantId }: Tx, id: string, at: Date): Promise<void> {
  await db
    .updateTable('work_item_request')
    .set({ itemStateAt: at })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}
