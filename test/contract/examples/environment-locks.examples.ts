import { newId } from '../../../domain/shared/ids.ts';
import { featureExamples, fresh } from './example.ts';

/** Where no worker runs nobody gives out tickets: they are made as rows, one that has the lock, of a run. */
export const environmentLocksExamples = featureExamples(
  async (app, { environmentId }) => {
    const ticketId = newId();
    await app.sql(
      `insert into environment_lock_ticket (id, tenant_id, project_id, environment_id, holder, holder_key, lease_minutes, state, held_at, expires_at)
       select ?, tenant_id, project_id, id, '{"type":"system","id":"flow","email":"run:example"}', ?, 30, 'held', now(), now() + interval '30 minutes'
       from environment where id = ?`,
      [ticketId, fresh('holder'), environmentId],
    );
    return { ticketId };
  },
  {
    requestEnvironmentLock: ({ environmentId: id }) => ({ params: { id }, body: { reason: 'deployment' } }),
    getEnvironmentLockQueue: ({ environmentId: id }) => ({ params: { id } }),
    getEnvironmentLockTicket: ({ environmentId: id, ticketId }) => ({ params: { id, ticketId } }),
    extendEnvironmentLock: ({ environmentId: id, ticketId }) => ({
      params: { id, ticketId },
      body: { leaseMinutes: 60 },
    }),
    releaseEnvironmentLock: ({ environmentId: id, ticketId }) => ({ params: { id, ticketId } }),
  },
);
