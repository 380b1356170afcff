import {
  dataOf,
  type Environment,
  extendEnvironmentLock,
  getCurrentUser,
  getEnvironmentLockQueue,
  getEnvironmentLockTicket,
  type LockTicket,
  releaseEnvironmentLock,
  requestEnvironmentLock,
} from '@quayside/client';
import { type Context, executionId, until } from '../context.ts';
import { ambiguous, CommandError, EXIT, missing, usage } from '../exit.ts';
import { environmentOf } from '../names.ts';
import { fields, type Outcome } from '../output.ts';

export interface LockOptions {
  lease?: string;
  reason?: string;
  execution?: string;
}

const shown = ({ ticketId, state, expiresAt, position, heldBy }: LockTicket) =>
  fields({ ticket: ticketId, state, heldBy, position: state === 'queued' ? position : undefined, expiresAt });

export function leaseMinutes({ lease }: { lease?: string }): { leaseMinutes?: number } {
  if (lease === undefined) return {};
  const minutes = Number(lease);
  if (!(minutes > 0)) throw usage('--lease takes minutes');
  return { leaseMinutes: minutes };
}

const ASK_MS = 30_000;

/** Asks for the lock and waits for it; what is interrupted while it waits gives its place up. */
export async function takeLock(context: Context, environment: Environment, options: LockOptions): Promise<LockTicket> {
  const { client } = context;
  const execution = executionId(context, options.execution);
  const body = {
    ...leaseMinutes(options),
    ...(options.reason !== undefined && { reason: options.reason }),
    ...(execution !== undefined && { executionId: execution }),
  };
  const path = { id: environment.id };
  // A ticket that has ended is never asked for again: a key of its own for each start.
  // What is interrupted meanwhile gets to know its ticket, and gives it back.
  const asked = await dataOf(requestEnvironmentLock({ client, path, body, signal: AbortSignal.timeout(ASK_MS) }));
  try {
    context.signal.throwIfAborted();
    if (asked.state === 'held') return asked;
    context.say(`${environment.name} is locked; waiting at place ${asked.position ?? '?'}`);
    const ticket = await until(
      context,
      () => dataOf(getEnvironmentLockTicket({ client, path: { ...path, ticketId: asked.ticketId } })),
      ({ state }) => state !== 'queued' && state !== 'asked',
    );
    if (ticket.state === 'held') return ticket;
    throw new CommandError(EXIT.conflict, 'locked', `The place in the queue was given up: ${ticket.state}`);
  } catch (error) {
    await giveBack(context, environment.id, asked.ticketId);
    throw error;
  }
}

/** Gives a ticket back, also when the command itself has been interrupted. */
export async function giveBack({ client, say }: Context, id: string, ticketId: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const { error } = await releaseEnvironmentLock({ client, path: { id, ticketId }, signal });
  if (error !== undefined) say(`the lock was not given back: ${error.detail}`);
}

export async function acquireLock(context: Context, name: string, options: LockOptions): Promise<Outcome> {
  const data = await takeLock(context, await environmentOf(context, name), options);
  return { data, text: shown(data) };
}

/** The ticket that is named, else the caller's own. */
async function ownTicket(
  context: Context,
  environment: Environment,
  { ticket, execution }: { ticket?: string; execution?: string },
  states: readonly LockTicket['state'][],
): Promise<string> {
  if (ticket !== undefined) return ticket;
  const { client } = context;
  const me = await dataOf(getCurrentUser({ client }));
  const { tickets } = await dataOf(getEnvironmentLockQueue({ client, path: { id: environment.id } }));
  const mine = tickets.filter(({ heldBy, state }) => heldBy === me.email && states.includes(state));
  const wanted = executionId(context, execution);
  const found = wanted === undefined ? mine : mine.filter((each) => each.executionId === wanted);
  const [only] = found;
  if (only === undefined) throw missing(`${environment.name} is not locked by ${me.email}`);
  if (found.length > 1)
    throw ambiguous(
      'Several locks are yours; name one by --ticket',
      found.map(({ ticketId }) => ticketId),
    );
  return only.ticketId;
}

interface OwnOptions extends LockOptions {
  ticket?: string;
}

export async function extendLock(context: Context, name: string, options: OwnOptions): Promise<Outcome> {
  const environment = await environmentOf(context, name);
  const ticketId = await ownTicket(context, environment, options, ['held']);
  const path = { id: environment.id, ticketId };
  const data = await dataOf(extendEnvironmentLock({ client: context.client, path, body: leaseMinutes(options) }));
  return { data, text: shown(data) };
}

export async function releaseLock(context: Context, name: string, options: OwnOptions): Promise<Outcome> {
  const environment = await environmentOf(context, name);
  const ticketId = await ownTicket(context, environment, options, ['held', 'queued', 'asked']);
  await dataOf(releaseEnvironmentLock({ client: context.client, path: { id: environment.id, ticketId } }));
  return { data: { ticketId, state: 'released' }, text: `${environment.name} is given back` };
}
