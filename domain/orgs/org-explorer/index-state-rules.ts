import { type FailedType, isListed } from './explorer-rules.ts';
import { type ReadState, readState, type SyncState } from './read-state-rules.ts';

/** A type as the index has it. */
export interface KeptType {
  metadataType: string;
  componentCount: number;
  /** When its components were last listed whole. */
  syncedAt: string | null;
  /** Why the last attempt to list them failed. */
  error: string | null;
  /** The org named it among its types; otherwise only a worker outside did, or somebody who asked for it. */
  isDescribed: boolean;
}

/** What is known of the index of one org. */
export interface IndexFacts extends SyncState {
  /** Types whose listing failed in the sync that ended last. */
  failedTypes: readonly FailedType[];
  /** A refresh once listed all types of the org: what it did not name, the org does not have. */
  wasReadWhole: boolean;
  types: readonly KeptType[];
  /** The source of some components has to be retrieved. */
  hasDue: boolean;
}

/** How far what is said about an org can be relied on. */
export interface IndexState extends ReadState {
  /** When the type that was listed first was listed: nothing shown is older. Null: nothing was listed. */
  syncedAt: string | null;
  /** Each type was listed, and each source that is kept was read. */
  isComplete: boolean;
  failedTypes: FailedType[];
  /** Types of the org that nobody has listed whole. */
  unreadTypes: string[];
}

type Knowledge = 'read' | 'failed' | 'unread';

/** What is known of the components of a type. A type that the org does not have counts as read: there are none. */
export function knowledgeOf({ types, wasReadWhole, failedTypes }: IndexFacts, metadataType: string): Knowledge {
  const type = types.find((kept) => kept.metadataType === metadataType);
  if (type && type.error !== null) return 'failed';
  if (type && type.syncedAt !== null) return 'read';
  if (failedTypes.some((failed) => failed.metadataType === metadataType)) return 'failed';
  return !type && wasReadWhole && isListed(metadataType) ? 'read' : 'unread';
}

/** What replies say of an index. @param metadataType all types if undefined. */
export function indexState(facts: IndexFacts, metadataType?: string): IndexState {
  const isOfScope = (type: { metadataType: string }) =>
    metadataType === undefined || type.metadataType === metadataType;
  const types = facts.types.filter(isOfScope);
  const failed = new Map(facts.failedTypes.filter(isOfScope).map((type) => [type.metadataType, type.error]));
  for (const { metadataType: type, error } of types) if (error !== null) failed.set(type, error);
  const names = metadataType === undefined ? types.map((type) => type.metadataType) : [metadataType];
  const known = names.map((name) => knowledgeOf(facts, name));
  const unreadTypes = names.filter((_, place) => known[place] === 'unread');
  const failedTypes = [...failed].map(([type, error]) => ({ metadataType: type, error }));
  const isAnyRead = known.includes('read') || (metadataType === undefined && facts.wasReadWhole);
  // What was never listed is about to be: a part of it would pass for all.
  const read = readState(facts, isAnyRead && !(facts.open && unreadTypes.length > 0));
  const [failure] = failedTypes;
  const listed = types.flatMap(({ syncedAt }) => syncedAt ?? []);
  return {
    ...(!isAnyRead && failure && !facts.open ? { ...read, status: 'error', message: failure.error } : read),
    syncedAt: listed.length === 0 ? null : listed.reduce((first, at) => (at < first ? at : first)),
    isComplete:
      unreadTypes.length === 0 &&
      failedTypes.length === 0 &&
      !facts.hasDue &&
      (metadataType !== undefined || facts.wasReadWhole),
    failedTypes,
    unreadTypes,
  };
}

/** Types of an org of whose components nothing can be said, by name. @param metadataType the only one to look at. */
export const unknownTypes = (facts: IndexFacts, metadataType?: string): string[] =>
  (metadataType === undefined ? facts.types.map((type) => type.metadataType) : [metadataType]).filter(
    (name) => knowledgeOf(facts, name) !== 'read',
  );

export const SIDES = ['left', 'right'] as const;
export type Side = (typeof SIDES)[number];

/** A type that is not compared, since one side does not know what it has of it. */
export interface LeftOutType {
  metadataType: string;
  side: Side;
  reason: Exclude<Knowledge, 'read'>;
}

/** The types of two orgs that cannot be compared, by name. @param metadataType the only one to compare. */
export function leftOutTypes(sides: Record<Side, IndexFacts>, metadataType?: string): LeftOutType[] {
  const all = SIDES.flatMap((side) => sides[side].types.map((type) => type.metadataType));
  const names = metadataType === undefined ? [...new Set(all)].toSorted() : [metadataType];
  return names.flatMap((name) =>
    SIDES.flatMap((side) => {
      const reason = knowledgeOf(sides[side], name);
      return reason === 'read' ? [] : { metadataType: name, side, reason };
    }),
  );
}

/** What a reply that rests on several indexes says: the worst of them. */
export function stateOfAll(
  states: readonly (IndexState & { orgUsername: string })[],
): Pick<ReadState, 'status' | 'message'> {
  const status = (['error', 'pending'] as const).find((worst) => states.some((state) => state.status === worst));
  if (status === undefined) return { status: 'available', message: null };
  const said = states.flatMap((state) =>
    state.status === 'available' ? [] : `${state.orgUsername}: ${state.message ?? 'its metadata have not been read'}`,
  );
  return { status, message: said.join('; ') };
}
