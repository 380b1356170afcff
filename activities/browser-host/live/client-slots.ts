import type { HostGrant } from '../../../domain/review/browser-sessions/hosts/host-tokens.ts';

const PER_SESSION = 50;
/** The others are kept for people and applications who may work in it. */
const PER_SESSION_TO_OTHERS = 40;
/** Sockets that one person, application or link may have. */
const PER_CALLER = 10;

type Came = Pick<HostGrant, 'sessionId' | 'asks' | 'by' | 'linkId'>;

const callerOf = ({ linkId, by }: Came): string => linkId ?? `${by.type}:${by.id}`;

/** The connections of the sessions of a host, of which everybody has a share. */
export class ClientSlots {
  readonly #taken = new Map<string, Set<Came>>();

  /** Takes a slot. Answers why there is none. */
  enter(came: Came): string | undefined {
    const { sessionId, asks, linkId } = came;
    const here = this.#taken.get(sessionId) ?? new Set();
    const isKeptFor = asks !== 'watch' && linkId === null;
    if (here.size >= (isKeptFor ? PER_SESSION : PER_SESSION_TO_OTHERS))
      return `The session has ${here.size} connections already`;
    const own = [...here].filter((one) => callerOf(one) === callerOf(came)).length;
    if (own >= PER_CALLER) return `You have ${own} connections to the session already`;
    this.#taken.set(sessionId, here.add(came));
    return undefined;
  }

  /** Gives back the slot that was taken for the same object. */
  leave(came: Came): void {
    const here = this.#taken.get(came.sessionId);
    if (here?.delete(came) && here.size === 0) this.#taken.delete(came.sessionId);
  }
}
