/** Where a component stands that a package has dropped. */
export const GC_STATUSES = [
  'detected',
  'moved',
  'handled',
  'restored',
  'dismissed',
  'owned-elsewhere',
  'reclaimed',
] as const;
export type GcStatus = (typeof GC_STATUSES)[number];

export const GC_EVENT_TYPES = ['detected', 'moved'] as const;
export type GcEventType = (typeof GC_EVENT_TYPES)[number];

export const PRESENCES = ['present', 'absent', 'unknown'] as const;
export type Presence = (typeof PRESENCES)[number];

/** How long what an org said of a component counts. */
export const EVIDENCE_DAYS = 7;
/** The most events, or results of a check, of one request. */
export const GC_BATCH_MAX = 10_000;

/** How many steps of an entry's history are shown: the last ones. */
export const HISTORY_SHOWN = 100;

/** What changes of an entry. */
export interface EntryState {
  status: GcStatus;
  /** The package of the same branch that has the component now; only with `moved`. */
  movedTo: string | null;
  /** The project that has the component; only with `owned-elsewhere`. */
  ownerProjectId: string | null;
}

/** What the manifests say of the component of an entry. */
export interface ManifestFacts {
  /** Whether the package of the entry has a manifest that can be read. */
  hasOwnManifest: boolean;
  isInOwnManifest: boolean;
  /** Another package of the branch whose manifest has it. */
  otherPackage: string | null;
  /** A `destructiveChanges` of the branch removes it. */
  isDestroyed: boolean;
  /** Another project that has it, in a manifest for this branch or for its own default branch. */
  ownerProjectId: string | null;
}

const OPEN: readonly GcStatus[] = ['detected', 'moved'];
/** Statuses that manifests can change. */
export const DERIVED_STATUSES: readonly GcStatus[] = [...OPEN, 'dismissed'];

const inStatus = (status: GcStatus): EntryState => ({ status, movedTo: null, ownerProjectId: null });

/** @param before undefined: the ledger does not have the component yet. */
export function afterEvent(before: EntryState | undefined, event: GcEventType): EntryState {
  if (before?.status === 'dismissed' || before?.status === event) return before;
  return inStatus(event);
}

/** What the manifests make of an entry: the first that applies. Only a restored component ends a dismissal. */
export function derived(state: EntryState, facts: ManifestFacts): EntryState {
  if (!DERIVED_STATUSES.includes(state.status) || !facts.hasOwnManifest) return state;
  if (facts.isInOwnManifest) return inStatus('restored');
  if (state.status === 'dismissed') return state;
  if (facts.otherPackage !== null) return { ...inStatus('moved'), movedTo: facts.otherPackage };
  if (facts.isDestroyed) return inStatus('handled');
  if (facts.ownerProjectId !== null) return { ...inStatus('owned-elsewhere'), ownerProjectId: facts.ownerProjectId };
  return state;
}

export const isSameState = (a: EntryState, b: EntryState): boolean =>
  a.status === b.status && a.movedTo === b.movedTo && a.ownerProjectId === b.ownerProjectId;

/**
 * Whether what orgs said before an event or the manifests changed a status says nothing about the component now: it was
 * dropped anew, or has been in the branch, and so in deployments, in between.
 */
export const voidsEvidence = (before: GcStatus | undefined, after: GcStatus): boolean =>
  before !== after && (after === 'detected' || after === 'restored' || before === 'restored' || before === 'reclaimed');

/** What a person does with an entry. */
export type Decision = 'dismiss' | 'reopen';

const DECISIONS: Record<Decision, { from: GcStatus; to: GcStatus }> = {
  dismiss: { from: 'detected', to: 'dismissed' },
  reopen: { from: 'dismissed', to: 'detected' },
};

/** The status after a decision, the same one for a repeated decision; undefined where it is not allowed. */
export function decided(status: GcStatus, decision: Decision): GcStatus | undefined {
  const { from, to } = DECISIONS[decision];
  return status === from || status === to ? to : undefined;
}

/** Valid evidence of the orgs of the environments that track the branch of an entry. */
export interface Evidence {
  absent: number;
  absentInRelease: number;
  presentInRelease: number;
}

/** Numbers of active environments with an org that track a branch. */
export interface Tracking {
  all: number;
  /** Environments of category `release`. */
  release: number;
}

/** Statuses of what the branch does not ship: such a component leaves the orgs because it was dropped. */
const RECLAIMABLE: ReadonlySet<GcStatus> = new Set(['detected', 'moved', 'handled', 'owned-elsewhere']);
export const isReclaimable = (status: GcStatus): boolean => RECLAIMABLE.has(status);

/** What a check of orgs makes of an entry: `removed`, or its status. What is unknown never counts as absent. */
export function afterOrgCheck(status: GcStatus, evidence: Evidence, tracking: Tracking): GcStatus | 'removed' {
  if (tracking.all > 0 && evidence.absent === tracking.all) return 'removed';
  if (isReclaimable(status) && tracking.release > 0 && evidence.absentInRelease === tracking.release)
    return 'reclaimed';
  return status === 'reclaimed' && evidence.presentInRelease > 0 ? 'detected' : status;
}

/** What a component of a branch is known by. */
export interface ComponentName {
  packageName: string;
  componentType: string;
  fullName: string;
}

const keyOf = ({ packageName, componentType, fullName }: ComponentName): string =>
  JSON.stringify([packageName, componentType, fullName]);

/** Folds repeated components: the last one counts. */
export const foldComponents = <C extends ComponentName>(components: readonly C[]): C[] => [
  ...new Map(components.map((component) => [keyOf(component), component])).values(),
];
