import { ApplicationFailure, condition, setCurrentDetails } from '@temporalio/workflow';

/** What is broken may be removed meanwhile, and is looked at as often in any case. */
const AT_THE_LATEST = '1 day';

interface Broken {
  /** The type of the failure that people must act on. */
  type: string;
  /** For people, without a full stop: `The host cannot be read`. */
  what: string;
  reason: string;
  /** Somebody must act, and was not told this reason before. */
  isNewsForPeople?: boolean | undefined;
}

/**
 * Waits, as long as something outside is broken, until it is to be looked at again: the sweeper says when that is due.
 * Fails instead, with the reason, where that is news for somebody who must act.
 */
export async function untilMended(
  isDue: () => boolean,
  { type, what, reason, isNewsForPeople }: Broken,
): Promise<void> {
  if (isNewsForPeople) throw ApplicationFailure.nonRetryable(reason, type);
  setCurrentDetails(`${what}; it is tried again, each time after a longer pause, an hour at most: ${reason}`);
  await condition(isDue, AT_THE_LATEST, { summary: 'tried again' });
  setCurrentDetails('');
}
