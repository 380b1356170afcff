import type { ActorReads, Reads } from '../../kernel/data/fenced-reads.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import { type ComponentKey, hasDue } from './component-files.queries.ts';
import { componentType, keptTypesOf } from './component-types.queries.ts';
import {
  type ComponentFilter,
  countFound,
  filesOfComponent,
  findComponent,
  listComponents,
} from './components.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import { parentNameOf } from './explorer-rules.ts';
import { type IndexFacts, type IndexState, indexState } from './index-state-rules.ts';
import { type ReadState, readState, type SyncState } from './read-state-rules.ts';
import { requestRefresh, requestSource } from './syncs.mutations.ts';
import { endedSync, openSyncs, type SyncRow, wasReadWhole } from './syncs.queries.ts';

/** What reading may cause: a refresh of what is not kept yet. */
export interface ReadScope {
  reads: ActorReads;
  tx: UnitOfWork;
  /** Called after the commit of a requested refresh. */
  onRequested: (org: ExplorerOrg) => void;
}

export interface Read<Data> extends ReadState {
  data: Data | null;
}

interface OrgSyncs extends SyncState {
  last: SyncRow | undefined;
}

/**
 * The syncs of an org. Of two statements that run side by side neither might see one that ends between them; and what a
 * sync has written is to be read after its end was.
 */
async function syncsOf(reads: Reads, org: ExplorerOrg): Promise<OrgSyncs> {
  const open = await openSyncs(reads, org.id);
  const last = await endedSync(reads, org.id, org.platformOrgId);
  const ended = last && {
    status: last.status === 'failed' ? ('failed' as const) : ('succeeded' as const),
    message: last.message,
  };
  return { open: open.find(({ status }) => status === 'running') ?? open[0], ended, last };
}

/** Asks for what is not kept, unless that is under way or has just failed. */
export async function withRequest<Data>(
  { tx, onRequested }: ReadScope,
  org: ExplorerOrg,
  read: Read<Data>,
  wanted: { key: ComponentKey } | { metadataTypes: readonly string[] | null },
): Promise<Read<Data>> {
  const { jobId } = await tx((work) =>
    'key' in wanted ? requestSource(work, org, wanted.key) : requestRefresh(work, org, wanted.metadataTypes),
  );
  onRequested(org);
  return { ...read, status: 'pending', jobId, message: 'A refresh was requested' };
}

export type ComponentRow = NonNullable<Awaited<ReturnType<typeof findComponent>>>;
export type FileRow = Awaited<ReturnType<typeof filesOfComponent>>[number];
export interface ComponentWithFiles {
  component: ComponentRow;
  files: FileRow[];
}

/**
 * A component with its files; those of a child are its parent's. What is not kept is asked for, and `isRefreshed` asks
 * anyway. Throws `not_found` for a member that a finished sync did not find.
 */
export async function readComponent(
  scope: ReadScope,
  org: ExplorerOrg,
  key: ComponentKey,
  { isRefreshed }: { isRefreshed: boolean },
): Promise<Read<ComponentWithFiles>> {
  const { reads } = scope;
  const syncs = await syncsOf(reads, org);
  const [component, type] = await Promise.all([
    findComponent(reads, org, key),
    componentType(reads, org, key.metadataType),
  ]);
  if (!component) return missing(scope, org, key, { syncs, type, isRefreshed });
  const owner =
    (component.parentType !== null && (await parentOf(reads, org, component, component.parentType))) || component;
  const data = { component, files: await filesOfComponent(reads, owner.id) };
  const ownerKey = { metadataType: owner.metadataType, memberName: owner.memberName };
  if (isRefreshed) return withRequest(scope, org, { ...readState(syncs, true), data }, { key: ownerKey });
  if (isSourceKept(owner)) return { ...readState(syncs, true), data };
  if (owner.contentError !== null && !owner.isDue)
    return { status: 'error', jobId: syncs.open?.id ?? null, message: owner.contentError, data };
  const read = { ...readState(syncs, false), data };
  return read.jobId === null && read.status === 'pending' ? withRequest(scope, org, read, { key: ownerKey }) : read;
}

const isSourceKept = ({ fetchedAt, isDue, contentError, isIndexOnly, lastModifiedAt }: ComponentRow): boolean =>
  fetchedAt !== null &&
  !isDue &&
  contentError === null &&
  !(isIndexOnly && lastModifiedAt !== null && lastModifiedAt > fetchedAt);

async function parentOf(reads: Reads, org: ExplorerOrg, { memberName }: ComponentRow, parentType: string) {
  const name = parentNameOf(memberName);
  if (name !== undefined) return findComponent(reads, org, { metadataType: parentType, memberName: name });
  // Labels are all parts of one component, whose name theirs does not say.
  const [only] = await listComponents(reads, org, { metadataType: parentType }, { limit: 1 });
  return only && findComponent(reads, org, only);
}

async function missing(
  scope: ReadScope,
  org: ExplorerOrg,
  key: ComponentKey,
  given: { syncs: OrgSyncs; type: Awaited<ReturnType<typeof componentType>>; isRefreshed: boolean },
): Promise<Read<ComponentWithFiles>> {
  const { syncs, type, isRefreshed } = given;
  const nothing: Read<ComponentWithFiles> = { ...readState(syncs, false), data: null };
  if (isRefreshed) return withRequest(scope, org, nothing, { key });
  const error = type?.error ?? failureIn(syncs.last, key.metadataType);
  if (type?.syncedAt || (wasWhole(syncs.last) && error === null))
    throw notFound(`${key.metadataType} ${key.memberName}`);
  if (error !== null && !syncs.open) return { ...nothing, status: 'error', message: error };
  if (nothing.jobId !== null || nothing.status === 'error') return nothing;
  return withRequest(scope, org, nothing, syncs.last ? { key } : ALL);
}

export const ALL = { metadataTypes: null };

/** All types were listed, except those that failed. */
const wasWhole = (last: SyncRow | undefined): boolean => last?.status === 'succeeded' && last.metadataTypes === null;
const failureIn = (last: SyncRow | undefined, metadataType: string): string | null =>
  last?.failedTypes.find((failed) => failed.metadataType === metadataType)?.error ?? null;

/** What is known of the index of an org, and its last sync. @param metadataType only this type. */
export async function indexOf(reads: Reads, org: ExplorerOrg, metadataType?: string): Promise<IndexFacts & OrgSyncs> {
  const syncs = await syncsOf(reads, org);
  const [types, wasWholeOnce, isAnyDue] = await Promise.all([
    keptTypesOf(reads, org, metadataType),
    wasReadWhole(reads, org),
    hasDue(reads, org, metadataType === undefined ? null : [metadataType]),
  ]);
  return { ...syncs, failedTypes: syncs.last?.failedTypes ?? [], wasReadWhole: wasWholeOnce, types, hasDue: isAnyDue };
}

/** What is said of an index that shows what it has, be it whole or not. Nothing kept is asked for. */
async function stateOfIndex(
  scope: ReadScope,
  org: ExplorerOrg,
  index: IndexFacts & OrgSyncs,
  metadataType?: string,
): Promise<IndexState> {
  const state = indexState(index, metadataType);
  if (state.status !== 'pending' || state.jobId !== null) return state;
  if (index.types.some(({ componentCount }) => componentCount > 0)) return { ...state, status: 'available' };
  const wanted = metadataType !== undefined && index.last ? { metadataTypes: [metadataType] } : ALL;
  const { status, jobId, message } = await withRequest(scope, org, { ...state, data: null }, wanted);
  return { ...state, status, jobId, message };
}

/**
 * A page of the components of an org, with their number. Whether they are kept depends on their type, or on the org where
 * none is named, and not on what is searched for. What is not kept is asked for.
 */
export async function readComponentList(
  scope: ReadScope,
  org: ExplorerOrg,
  filter: ComponentFilter,
  page: { cursor?: ComponentKey | undefined; limit: number },
): Promise<IndexState & { data: { items: Awaited<ReturnType<typeof listComponents>>; total: number } }> {
  const { reads } = scope;
  const { metadataType, search } = filter;
  const index = await indexOf(reads, org, metadataType);
  const [items, found] = await Promise.all([
    listComponents(reads, org, filter, page),
    search === undefined ? undefined : countFound(reads, org, { metadataType, search }),
  ]);
  const kept = index.types.reduce((total, { componentCount }) => total + componentCount, 0);
  return { ...(await stateOfIndex(scope, org, index, metadataType)), data: { items, total: found ?? kept } };
}

/** Types of an org with their counts, and its last sync. */
export async function readMetadata(scope: ReadScope, org: ExplorerOrg) {
  const index = await indexOf(scope.reads, org);
  return { ...(await stateOfIndex(scope, org, index)), data: { types: index.types, lastSync: index.last ?? null } };
}
