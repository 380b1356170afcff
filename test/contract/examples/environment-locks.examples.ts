import { insertLockTickets, lease } from '../../support/factories.ts';
import { featureExamples } from './example.ts';

/** Where no worker runs nobody gives out tickets: they are made as rows, one that has the lock, of a run. */
export const environmentLocksExamples = featureExamples(
  async (app, { environmentId }) => {
    const [ticketId = ''] = await insertLockTickets(app, environmentId, [{ state: 'held', ...lease(new Date()) }]);
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
