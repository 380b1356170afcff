import { parseArgs } from 'node:util';
import { environmentLockContract } from '../workflows/delivery/environment-locks/environment-lock.contract.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { Figures, quantile } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures the lock of one environment: tickets that are requested and returned one after another, and a queue of as
 * many in which each passes the lock to the next. Options: `--rounds 3`, `--tickets 500`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, tickets: { type: 'string', default: '500' } },
});
const TICKETS = Number(options.tickets);
const repositoryIdentifier = 'bench/shop';

interface Ticket {
  ticketId: string;
  state: string;
}

const service = await startService(['environment-locks-v1']);
const client = createTemporalClient({ address: service.temporalAddress, namespace: 'default' });
try {
  await service.call('POST', '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const figures = new Figures();
  const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const startedAt = performance.now();
    return [await work(), performance.now() - startedAt];
  };
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const { id } = await service.call<{ id: string }>('POST', '/api/environments', {
      repositoryIdentifier,
      name: `e${round}`,
      category: 'test',
    });
    const path = `/api/environments/${id}/locks`;
    const request = (executionId: string) => service.call<Ticket>('POST', path, { executionId });
    const returnTicket = ({ ticketId }: Ticket) => service.call('DELETE', `${path}/${ticketId}`);

    const pairs: number[] = [];
    const pairsCpu = service.measureCpu();
    for (let index = 0; index < TICKETS; index++) {
      const [ticket, requestMs] = await timed(() => request(`pair-${index}`));
      if (ticket.state !== 'held') throw new Error(`a free lock was not granted: ${JSON.stringify(ticket)}`);
      const [, returnMs] = await timed(() => returnTicket(ticket));
      pairs.push(requestMs + returnMs);
    }
    figures.noteCpu('one after another, per ticket', pairsCpu(), TICKETS);
    figures.note('one after another: request and return, p50', quantile(pairs, 0.5), 'ms', '<= 60');
    figures.note('one after another: request and return, p95', quantile(pairs, 0.95), 'ms', '<= 60');
    figures.note('one after another: request and return, p99', quantile(pairs, 0.99));

    const requests: number[] = [];
    const queueCpu = service.measureCpu();
    const queue: Ticket[] = [];
    for (let index = 0; index < TICKETS; index++) {
      const [ticket, requestMs] = await timed(() => request(`queue-${index}`));
      queue.push(ticket);
      requests.push(requestMs);
    }
    const handovers: number[] = [];
    for (const ticket of queue) {
      const startedAt = performance.now();
      for (;;) {
        const { state } = await service.call<Ticket>('GET', `${path}/${ticket.ticketId}`);
        if (state === 'held') break;
        if (state !== 'queued') throw new Error(`the ticket is ${state}`);
      }
      await returnTicket(ticket);
      handovers.push(performance.now() - startedAt);
    }
    figures.noteCpu(`a queue of ${TICKETS}, per ticket`, queueCpu(), TICKETS);
    const { rows } = await service.database.query<{ isInOrder: boolean }>(
      `select array_agg(number order by held_at) = array_agg(number order by number) as "isInOrder" from environment_lock_ticket
       where environment_id = $1 and execution_id like 'queue-%'`,
      [id],
    );
    figures.note(`a queue of ${TICKETS}: request, p50`, quantile(requests, 0.5), 'ms', '<= 60');
    figures.note(`a queue of ${TICKETS}: request, p95`, quantile(requests, 0.95));
    figures.note(`a queue of ${TICKETS}: hold the lock and return it, p50`, quantile(handovers, 0.5), 'ms', '<= 60');
    figures.note(`a queue of ${TICKETS}: hold the lock and return it, p95`, quantile(handovers, 0.95));
    figures.note(`a queue of ${TICKETS}: out of order`, rows[0]?.isInOrder === true ? 0 : 1, '', '0');
    const workflowId = environmentLockContract.workflowId({
      tenantId: service.tenantId,
      tenantSlug: 'bench',
      environmentId: id,
      environmentName: `e${round}`,
      repositoryIdentifier,
    });
    const { historyLength } = await client.workflow.getHandle(workflowId).describe();
    figures.note('events in the history of the lock at the end', historyLength, '', '<= 5000');
  }
  figures.print();
} finally {
  await client.connection.close();
  await service.stop();
}
