import type { Tx } from '../../unit-of-work.ts';
import { grantConnection } from '../browser-sessions/connections.mutations.ts';
import { addressOfHost } from '../browser-sessions/hosts/host-addresses.ts';
import type { HostGrant } from '../browser-sessions/hosts/host-tokens.ts';
import { addToTimeline } from '../browser-sessions/session-changes.queries.ts';
import { isTold } from '../browser-sessions/sessions.queries.ts';
import { sessionToChange, stopSession } from '../browser-sessions/sessions.mutations.ts';

/** The entry of a session's timeline without which nothing of a recording was played in it. */
const BEGUN = 'check_begun';

/** Where a recording is played, and what lets it in. */
export interface BegunCheck {
  address: string;
  grant: HostGrant;
}

/**
 * Begins to play a recording in a live session, once; null: it was begun before, and what of it was played is not known.
 * Throws as `grantConnection`.
 */
export async function beginCheck(tx: Tx, sessionId: string, title: string): Promise<BegunCheck | null> {
  const session = await sessionToChange(tx, sessionId);
  if (await isTold(tx, sessionId, BEGUN)) {
    tx.noteDone();
    return null;
  }
  const grant = await grantConnection(tx, sessionId);
  const address = await addressOfHost(tx, grant.hostId);
  await addToTimeline(tx, session, { kind: BEGUN, summary: `The recording ${JSON.stringify(title)} begins` });
  return { address, grant };
}

/** Ends the session of a check, of which nothing is left to play. */
export const endCheck = (tx: Tx, sessionId: string) => stopSession(tx, sessionId);
