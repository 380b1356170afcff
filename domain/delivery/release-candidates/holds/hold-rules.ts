import { DomainError, type HoldMember } from '../../../kernel/shared/errors.ts';
import { type CandidateStatus, isFinal } from '../candidate-status-rules.ts';

/** Why a release candidate goes nowhere, or not on, as its row has it. */
export interface StoredHold {
  reason: string;
  /** ISO 8601; null: until it is lifted. */
  until: string | null;
  /** Who held it: an e-mail, or the name of a token. */
  by: string;
  /** ISO 8601. */
  since: string;
  /** The verification that failed: it holds that content back from later environments. Absent: somebody holds it, from all. */
  verification?: { environmentId: string; contentDigest: string };
}

/** An environment in which a verification failed. */
export interface HoldingEnvironment {
  name: string;
  /** Its place in the order in which releases travel. */
  order: number;
}

/** Why a hold ended: it was lifted, its time was over, its environment was verified, or its candidate went out of use. */
export type HoldEnd = 'lifted' | 'expired' | 'verified' | 'final';

/** A hold that counts now. */
export interface Hold {
  stored: StoredHold;
  /** Null: somebody holds the candidate, from all environments. */
  environment: HoldingEnvironment | null;
}

/** What holds depend on besides themselves. */
export interface HoldFacts {
  /** Digest of the content that the candidate has. */
  contentDigest: string;
  /** By id; one that is gone holds nothing. */
  environments: ReadonlyMap<string, HoldingEnvironment>;
  /** In milliseconds since the epoch. */
  now: number;
}

const hasPassed = ({ until }: StoredHold, now: number): boolean => until !== null && Date.parse(until) <= now;

/** The holds of a candidate that count, that of a person first, then in the order in which releases travel. */
export function holdsNow(stored: readonly StoredHold[], { contentDigest, environments, now }: HoldFacts): Hold[] {
  const holds = stored.flatMap((each): Hold[] => {
    if (hasPassed(each, now)) return [];
    const { verification } = each;
    if (!verification) return [{ stored: each, environment: null }];
    const environment = environments.get(verification.environmentId);
    return environment && verification.contentDigest === contentDigest ? [{ stored: each, environment }] : [];
  });
  return holds.toSorted((a, b) => (a.environment?.order ?? -Infinity) - (b.environment?.order ?? -Infinity));
}

/** Where a release is to go. */
export interface HeldFrom {
  environmentName: string;
  /** Environments to which it must have been deployed before. */
  after?: readonly string[] | undefined;
  /** Place in the order in which releases travel; absent: it is of another project. */
  order?: number | undefined;
  /** It is what an environment goes back to. */
  isRollback: boolean;
}

/** Whether a hold keeps its release from an environment. */
export function keepsFrom(
  { environment }: Hold,
  { environmentName, after = [], order, isRollback }: HeldFrom,
): boolean {
  if (environment === null) return true;
  if (isRollback || environment.name === environmentName) return false;
  return after.includes(environment.name) || (order !== undefined && environment.order < order);
}

/** For people, after the name of the release: `is held by ada@example.com: …`. */
export function whyHeld({ stored: { reason, until, by }, environment }: Hold): string {
  if (environment) return `is held since its verification in ${environment.name} failed: ${reason}`;
  return `is held by ${by}${until === null ? '' : ` until ${until.replace('.000Z', 'Z')}`}: ${reason}`;
}

/** For what a run waits whose release is held. @param named as it begins the sentence. */
export const waitingFor = (named: string, hold: Hold): { nextAt: number | null; reason: string } => ({
  nextAt: hold.stored.until === null ? null : Date.parse(hold.stored.until),
  reason: `${named} ${whyHeld(hold)}`,
});

/** A hold as it is shown with its candidate. */
export interface ShownHold extends HoldMember {
  by: string;
  since: string;
}

/** A hold where it is the reason of something else. */
export const holdMember = ({ stored: { reason, until }, environment }: Hold): HoldMember => ({
  source: environment ? 'verification' : 'person',
  reason,
  until,
  environmentName: environment?.name ?? null,
});

/** The first of the holds that count, as readers are shown it. */
export function shownHold([first]: readonly Hold[]): ShownHold | null {
  if (!first) return null;
  const { by, since } = first.stored;
  return { ...holdMember(first), by, since };
}

/** The refusal of what a hold keeps from going. @param named as it begins the sentence. */
export function heldError(named: string, hold: Hold, pointer: string): DomainError {
  const detail = `${named} ${whyHeld(hold)}`;
  return new DomainError('held', detail, { fields: [{ pointer, detail }], members: { hold: holdMember(hold) } });
}

/** Whether a candidate is held, and whether it ever goes on. */
type HoldState = 'free' | 'held' | 'final' | 'held_final';

/** What becomes of a state; null: it is refused. What is final is held by nobody anew. */
const MOVES = {
  free: { hold: 'held', release: 'free' },
  held: { hold: 'held', release: 'free' },
  final: { hold: null, release: null },
  held_final: { hold: null, release: 'final' },
} as const satisfies Record<HoldState, Record<'hold' | 'release', HoldState | null>>;

/** Throws `invalid_transition` where a candidate cannot be held, or has no hold that could be lifted. */
export function assertHoldMove(
  move: 'hold' | 'release',
  { status, releaseName }: { status: CandidateStatus; releaseName: string },
  holds: readonly Hold[],
): void {
  const isHeld = holds.length > 0;
  const state = isFinal(status) ? (isHeld ? 'held_final' : 'final') : isHeld ? 'held' : 'free';
  if (MOVES[state][move] !== null) return;
  const what = move === 'hold' ? 'cannot be held' : 'is not held';
  throw new DomainError('invalid_transition', `The release candidate ${releaseName} is ${status}: it ${what}`);
}

/** Throws `forbidden` for who may not lift a hold: what a verification holds, a verification lets go, or an owner in person. */
export function assertMayLift({ environment }: Hold, actor: { type: string; role: string }): void {
  if (environment === null || (actor.type === 'user' && actor.role === 'owner')) return;
  throw new DomainError(
    'forbidden',
    `Only owners, in person, lift the hold of a failed verification; one that succeeds in ${environment.name} lifts it, too`,
  );
}

/** The one of some holds that lasts the longest. */
export const lastToEnd = (holds: readonly Hold[]): Hold | undefined => holds.toSorted((a, b) => endOf(b) - endOf(a))[0];

const endOf = ({ stored: { until } }: Hold): number => (until === null ? Infinity : Date.parse(until));

/** When the next of some holds ends by itself; null: none does. */
export function nextEnd(stored: readonly StoredHold[]): Date | null {
  const ends = stored.flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
  return ends.length === 0 ? null : new Date(Math.min(...ends));
}

/** The holds whose time is over, and the others. */
export const partedAt = (stored: readonly StoredHold[], now: number) => ({
  over: stored.filter((each) => hasPassed(each, now)),
  rest: stored.filter((each) => !hasPassed(each, now)),
});

/** Whether a hold is that of a verification in an environment. */
export const isOfVerification = ({ verification }: StoredHold, environmentId: string, contentDigest: string): boolean =>
  verification?.environmentId === environmentId && verification.contentDigest === contentDigest;
