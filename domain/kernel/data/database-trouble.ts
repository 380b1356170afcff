import { setTimeout as sleep } from 'node:timers/promises';
import { OUTDATED_STATEMENT } from './pool.ts';
import { UnfencedConnectionError } from './served-connection.ts';

/** SQLSTATE classes and codes for an unavailable database, as opposed to an invalid request. */
const DATABASE_AWAY = /^(08|57P|53|25P03)/;
const CONNECTION_LOST = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)$/;
const CONNECTION_LOST_TEXT =
  /Connection terminated|not currently accepting connections|connection timeout|timeout exceeded when trying to connect|not queryable|Client has encountered a connection error/i;
const CONFLICTS = new Set(['40001', '40P01']);
/** From one attempt to the next: longer in all than a restart of the database takes. */
const PAUSES_MS = [200, 800, 2_000, 4_000];

/** An error with what caused it. */
export function* causes(error: unknown): Generator<Error> {
  for (
    let current = error;
    Error.isError(current);
    current = current.cause ?? (current as { previous?: unknown }).previous
  ) {
    yield current;
  }
}

const codeOf = (cause: Error): string => (cause as { code?: string }).code ?? '';

/** Whether the database cannot be reached, or takes nothing for the moment; of one error, without its causes. */
export const isDatabaseAway = (cause: Error): boolean =>
  cause instanceof UnfencedConnectionError ||
  DATABASE_AWAY.test(codeOf(cause)) ||
  CONNECTION_LOST.test(codeOf(cause)) ||
  CONNECTION_LOST_TEXT.test(cause.message);

/** Whether a transaction waited too long for what others have locked; of one error, without its causes. */
export const isLockTimeout = (cause: Error): boolean => codeOf(cause) === '55P03';

/** Whether a transaction made way for a concurrent one; of one error, without its causes. */
export const isConflict = (cause: Error): boolean => CONFLICTS.has(codeOf(cause));

/** Whether the same work may succeed in a moment. */
export const mayPass = (error: unknown): boolean =>
  causes(error).some(
    (cause) =>
      isDatabaseAway(cause) || isLockTimeout(cause) || isConflict(cause) || cause.message === OUTDATED_STATEMENT,
  );

/** Tries again while the database is away for a moment. @param work retrying it is safe. */
export async function persistently<Result>(
  work: () => Promise<Result>,
  pausesMs: readonly number[] = PAUSES_MS,
): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await sleep(pauseMs);
    }
  }
  return work();
}
