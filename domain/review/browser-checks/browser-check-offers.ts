import type { OfferedType } from '../../delivery/flows/runs.hooks.ts';
import type { Tx } from '../../unit-of-work.ts';
import { localHosts, whyNotLocal } from '../browser-sessions/providers.queries.ts';

/** Why no recording can be played now, as far as the database knows; null: nothing is known against it. */
export async function whyNotChecked(tx: Tx, { run }: OfferedType): Promise<string | null> {
  if (run && (run.payload.path === undefined) === (run.payload.recording === undefined))
    return 'A browser check needs either `path` or `recording`';
  return whyNotLocal(await localHosts(tx));
}
