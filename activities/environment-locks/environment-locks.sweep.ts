import { lockPlace } from '../../domain/environment-locks/environment-locks.queries.ts';
import { withdrawAsked } from '../../domain/environment-locks/lock-tickets.ts';
import type { LockLine } from '../../domain/environment-locks/lock-turns.port.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { environmentLock, LOOK_SIGNAL } from '../../workflows/environment-locks/environment-lock.contract.ts';
import type { Deps } from '../deps.ts';

/** A ticket that nobody took into the line for so long was given up by the request that asked for it; a run asks again. */
const OVERDUE_SECONDS = 30;
/** The most environments of one sweep; the others have their turn in the next. */
const MOST_LINES = 100;
const WORDS_AT_ONCE = 20;

// A line stands still when its first ticket could have the lock and has not: the lease before it ran out, or was given back.
const STANDING_STILL = `
  with line as (
    select tenant_id, environment_id from environment_lock_ticket where state in ('asked', 'queued', 'held')
    group by 1, 2
    having (bool_or(state = 'queued') and not bool_or(state = 'held'))
      or min(expires_at) filter (where state = 'held') < now() - interval '5 seconds'
    limit ${MOST_LINES})
  select line.tenant_id as "tenantId", line.environment_id as "environmentId", e.name as "environmentName", p.identifier as "repositoryIdentifier"
  from line
  join environment e on e.tenant_id = line.tenant_id and e.id = line.environment_id
  join project p on p.tenant_id = e.tenant_id and p.id = e.project_id`;

const GIVEN_UP = `
  select tenant_id as "tenantId", environment_id as "environmentId", id as "ticketId" from environment_lock_ticket
  where state = 'asked' and created_at < now() - make_interval(secs => $1)
    and (run_id is null or created_at < now() - interval '1 day')
  limit 500`;

/**
 * Goes on where a word was lost: Temporal was away, or a process died between two steps. A line that stands still is
 * told to look again; tickets that were asked for by requests which died leave it.
 */
export async function sweepEnvironmentLocks(deps: Deps, overdueSeconds = OVERDUE_SECONDS): Promise<number> {
  const { systemPool, launch, actingAs } = deps;
  const givenUp = (await systemPool.query<TicketKey>(GIVEN_UP, [overdueSeconds])).rows;
  for (const { tenantId, environmentId, ticketId } of givenUp) {
    await actingAs(systemActor(tenantId, 'environment-lock'))(async (tx) =>
      withdrawAsked(tx, await lockPlace(tx, environmentId), ticketId),
    );
  }
  const lines = (await systemPool.query<LockLine>(STANDING_STILL)).rows;
  for (let at = 0; at < lines.length; at += WORDS_AT_ONCE) {
    await Promise.all(
      lines.slice(at, at + WORDS_AT_ONCE).map((line) => launch.signal(environmentLock, line, LOOK_SIGNAL)),
    );
  }
  return givenUp.length + lines.length;
}

interface TicketKey {
  tenantId: string;
  environmentId: string;
  ticketId: string;
}
