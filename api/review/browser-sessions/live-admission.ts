import type { FindLiveAccess, LiveAccess } from '../../../domain/review/browser-sessions/live/live-access.ts';
import type { HostTokens } from '../../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { hostOfSession } from '../../../domain/review/browser-sessions/hosts/host-addresses.ts';
import type { LiveMode } from '../../../domain/review/browser-sessions/live/live-viewer-rules.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import type { PassedTo } from '../../http/sockets/pass-socket.ts';

/** Links that were opened and stand in one cookie, so that several sessions are watched at the same time. */
const LINKS_KEPT = 4;
/** A link has full stops in it. */
const SEPARATOR = '~';

export const linksIn = (cookie: string | undefined): string[] =>
  cookie === undefined ? [] : cookie.split(SEPARATOR).slice(0, LINKS_KEPT);

/** The cookie with one more link, which stands first. */
export const withLink = (cookie: string | undefined, link: string): string =>
  [link, ...linksIn(cookie).filter((known) => known !== link)].slice(0, LINKS_KEPT).join(SEPARATOR);

export interface Admission extends PassedTo {
  tenantId: string;
  /** False: access was withdrawn since. Rejects when that cannot be told now. */
  isStillAdmitted: () => Promise<boolean>;
}

/**
 * Where a viewer is passed to, and by what token. `asks` is cut to what the viewer may. `callerNow` says who it is, asked
 * again later. Throws as `hostOfSession`.
 */
export async function admission(
  { session, viewer, until, reads }: LiveAccess,
  asks: LiveMode,
  {
    hostTokens,
    now,
    findLiveAccess,
    callerNow,
  }: {
    hostTokens: HostTokens;
    now: () => Date;
    findLiveAccess: FindLiveAccess;
    callerNow: () => Promise<{ actor: Actor | undefined; links: readonly string[] }>;
  },
): Promise<Admission> {
  const { hostId, address } = await hostOfSession(reads, session);
  const granted = viewer.may === 'control' ? asks : 'watch';
  const grant = {
    hostId,
    sessionId: session.id,
    asks: granted,
    by: viewer.actor,
    linkId: viewer.linkId,
    until,
  } as const;
  const token = await hostTokens.sign(grant, now());
  return {
    tenantId: reads.tenantId,
    address,
    token,
    async isStillAdmitted() {
      try {
        const access = await findLiveAccess(session.id, await callerNow());
        return access !== undefined && (granted === 'watch' || access.viewer.may === 'control');
      } catch (error) {
        if (error instanceof DomainError && ['unauthenticated', 'forbidden'].includes(error.code)) return false;
        throw error;
      }
    },
  };
}
