import { unreadableReason } from '../gc-ledger/gc-deletion-rules.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import {
  compareOrgs,
  type Comparison,
  listUnpackaged,
  manifestsOf,
  type Unpackaged,
} from './org-comparison.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import { ALL, indexOf, type ReadScope, withRequest } from './explorer-reads.ts';
import {
  type IndexFacts,
  type IndexState,
  indexState,
  leftOutTypes,
  type Side,
  stateOfAll,
  unknownTypes,
} from './index-state-rules.ts';

/** What is known of the components of an org. */
export type OrgState = IndexState & { orgUsername: string };

/** The state of an index that has to be read before something can be said. What nobody has read is asked for. */
async function stateOfSide(
  scope: ReadScope,
  org: ExplorerOrg,
  index: IndexFacts,
  metadataType: string | undefined,
): Promise<OrgState> {
  const state = { orgUsername: org.username, ...indexState(index, metadataType) };
  if (state.status !== 'pending' || state.jobId !== null) return state;
  const wanted = metadataType === undefined ? ALL : { metadataTypes: [metadataType] };
  const { jobId, message } = await withRequest(scope, org, { ...state, data: null }, wanted);
  return { ...state, jobId, message };
}

/**
 * A page of what differs between two orgs, with the types that are not compared since a side does not know them; no items
 * while a side has not been read, is being read for the first time, or could not be read.
 */
export async function readComparison(
  scope: ReadScope,
  { metadataType, ...wanted }: Omit<Comparison, 'leftOut'>,
  page: Parameters<typeof compareOrgs>[2],
) {
  const [leftIndex, rightIndex] = await Promise.all([
    indexOf(scope.reads, wanted.left, metadataType),
    indexOf(scope.reads, wanted.right, metadataType),
  ]);
  const indexes = { left: leftIndex, right: rightIndex };
  const stateOf = (side: Side) => stateOfSide(scope, wanted[side], indexes[side], metadataType);
  const [left, right] = [await stateOf('left'), await stateOf('right')];
  const notCompared = leftOutTypes(indexes, metadataType);
  const state = stateOfAll([left, right]);
  const leftOut = [...new Set(notCompared.map((type) => type.metadataType))];
  const slow = scope.reads.with({ isPlannedAnew: true, pace: 'varies' });
  const items =
    state.status === 'available' ? await compareOrgs(slow, { ...wanted, metadataType, leftOut }, page) : null;
  return { ...state, left, right, notCompared, items };
}

/**
 * A page of what an org has in no package of a branch; no items while the org has not been read, is being read for the
 * first time or could not be read, and while a manifest cannot be read. Types that are not known are left out. Throws
 * `not_found` for a branch without manifests.
 */
export async function readUnpackaged(
  scope: ReadScope,
  org: ExplorerOrg,
  { metadataType, ...place }: Omit<Unpackaged, 'leftOut'> & { repositoryIdentifier: string },
  page: Parameters<typeof listUnpackaged>[3],
) {
  const [{ packages, unreadable }, index] = await Promise.all([
    manifestsOf(scope.reads, place.projectId, place.branch),
    indexOf(scope.reads, org, metadataType),
  ]);
  if (packages === 0) throw notFound(`A manifest of ${place.repositoryIdentifier} on branch ${place.branch}`);
  const state = await stateOfSide(scope, org, index, metadataType);
  const leftOut = unknownTypes(index, metadataType);
  const [unread] = unreadable;
  const said =
    unread === undefined ? stateOfAll([state]) : { status: 'error' as const, message: unreadableReason(unread) };
  const slow = scope.reads.with({ isPlannedAnew: true, pace: 'varies' });
  const items =
    said.status === 'available' ? await listUnpackaged(slow, org, { ...place, metadataType, leftOut }, page) : null;
  return { ...said, org: state, packages, unreadableManifests: unreadable, items };
}
