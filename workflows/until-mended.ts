import { condition, setCurrentDetails } from '@temporalio/workflow';

/** What is broken may be removed meanwhile, and is looked at as often in any case. */
const AT_THE_LATEST = '1 day';

/** Waits, as long as something outside is broken, until it is to be looked at again: the sweeper says when that is due. */
export async function untilDueAgain(isDue: () => boolean, what: string, reason: string): Promise<void> {
  setCurrentDetails(`${what}; it is tried again, each time after a longer pause, an hour at most: ${reason}`);
  await condition(isDue, AT_THE_LATEST, { summary: 'tried again' });
  setCurrentDetails('');
}
