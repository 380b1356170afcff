import { eachAtOnce } from '../../../domain/kernel/shared/at-once-rules.ts';
import type { ListedComponent } from '../../../domain/orgs/crm/crm-metadata.port.ts';
import type { CrmFailure, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { folderTypeOf, isFolderType } from '../../../domain/orgs/org-explorer/explorer-rules.ts';
import {
  callsOf,
  type ListCall,
  type PlannedType,
  typeOfListed,
} from '../../../domain/orgs/org-explorer/listing-rules.ts';

const CALLS_AT_ONCE = 4;
/** Calls in a row that found the org away: all others would, too. */
const OUTAGES_MAX = 4;

export interface ListingSink {
  /** All components of a type. */
  onListed: (type: PlannedType, components: ListedComponent[]) => Promise<void>;
  onFailed: (type: PlannedType, failure: CrmFailure) => Promise<void>;
}

/** Ends the listing as a whole: every further call would fail likewise. */
class Stopped extends Error {
  readonly failure: CrmFailure;
  constructor(failure: CrmFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Lists the components of types, several calls at once; those in folders after their folders. A call that fails, or does
 * not say which type a component has, is repeated query by query; the sink gets each type that fails.
 * @returns what ended the listing; undefined when it is whole.
 */
export async function listOrg(
  org: Pick<CrmOrg, 'listMetadata'>,
  types: readonly PlannedType[],
  sink: ListingSink,
): Promise<CrmFailure | undefined> {
  const listAll = listingOf(org);
  try {
    const plain = types.filter(({ description }) => !description.isInFolder);
    const inFolders = types.filter(({ description }) => description.isInFolder);
    // Folders are needed although only their contents were asked for.
    const folders = new Map<string, PlannedType>();
    for (const type of inFolders) folders.set(type.metadataType, folderTypeFor(type));
    const listedFolders = await listAll(
      [...folders.values()].map((type) => ({ query: { type: type.metadataType }, type })),
    );
    await eachOf(
      plain.filter(({ metadataType }) => !isFolderType(metadataType)),
      listAll,
      sink,
    );
    for (const type of plain.filter(({ metadataType }) => isFolderType(metadataType))) {
      const known = listedFolders.found.get(type.metadataType);
      const failure = listedFolders.failed.get(type.metadataType);
      if (failure) await sink.onFailed(type, failure);
      else if (known) await sink.onListed(type, known);
      else await eachOf([type], listAll, sink);
    }
    for (const type of inFolders) {
      const folderType = folders.get(type.metadataType)?.metadataType ?? '';
      const failure = listedFolders.failed.get(folderType);
      if (failure) await sink.onFailed(type, failure);
      else await listContents(type, listedFolders.found.get(folderType) ?? [], listAll, sink);
    }
    return undefined;
  } catch (error) {
    if (error instanceof Stopped) return error.failure;
    throw error;
  }
}

/** The type by which the folders of a type are listed. */
const folderTypeFor = ({ metadataType, description }: PlannedType): PlannedType => ({
  metadataType: folderTypeOf(metadataType),
  description: { ...description, suffix: null, isInFolder: false, hasMetaFile: false, childTypes: [] },
});

type ListAll = (
  queries: ListCall['queries'],
) => Promise<{ found: Map<string, ListedComponent[]>; failed: Map<string, CrmFailure> }>;

/** Types that are listed together; few enough that their components are in memory for moments only. */
const TYPES_AT_ONCE = 12;

async function eachOf(types: readonly PlannedType[], listAll: ListAll, { onListed, onFailed }: ListingSink) {
  for (let start = 0; start < types.length; start += TYPES_AT_ONCE) {
    const some = types.slice(start, start + TYPES_AT_ONCE);
    const { found, failed } = await listAll(some.map((type) => ({ query: { type: type.metadataType }, type })));
    for (const type of some) {
      const failure = failed.get(type.metadataType);
      if (failure) await onFailed(type, failure);
      else await onListed(type, found.get(type.metadataType) ?? []);
    }
  }
}

async function listContents(
  type: PlannedType,
  folders: readonly ListedComponent[],
  listAll: ListAll,
  { onListed, onFailed }: ListingSink,
) {
  const queries = folders.map(({ fullName: folder }) => ({ query: { type: type.metadataType, folder }, type }));
  const { found, failed } = await listAll(queries);
  const failure = failed.get(type.metadataType);
  if (failure) await onFailed(type, failure);
  else await onListed(type, found.get(type.metadataType) ?? []);
}

/** Lists what queries find, as long as calls do not show that the org is away. */
function listingOf(org: Pick<CrmOrg, 'listMetadata'>): ListAll {
  let outages = 0;
  const list = async (queries: ListCall['queries']) => {
    const answer = await org.listMetadata(queries.map(({ query }) => query));
    if (answer.isOk) outages = 0;
    else if (['auth_failed', 'limited'].includes(answer.kind)) throw new Stopped(answer);
    else if (['unreachable', 'timeout'].includes(answer.kind) && ++outages >= OUTAGES_MAX) throw new Stopped(answer);
    return answer;
  };

  /** What each type has, and why types failed. */
  return async (queries) => {
    const found = new Map<string, ListedComponent[]>();
    const failed = new Map<string, CrmFailure>();
    /** False, and nothing is kept of the answer, when it leaves open which type a component has. */
    const keep = (call: ListCall['queries'], components: readonly ListedComponent[]): boolean => {
      const asked = [...new Set(call.map(({ type }) => type))];
      const typed = components.map((component) => ({ component, type: typeOfListed(component, asked) }));
      if (typed.some(({ type }) => type === undefined)) return false;
      for (const { component, type } of typed) found.get(type?.metadataType ?? '')?.push(component);
      return true;
    };
    for (const { type } of queries) found.set(type.metadataType, []);
    await eachAtOnce(callsOf(queries), CALLS_AT_ONCE, async ({ queries: call }) => {
      const answer = await list(call);
      if (answer.isOk && keep(call, answer.value)) return;
      if (!answer.isOk && call.length === 1) return void failed.set(call[0]?.type.metadataType ?? '', answer);
      for (const one of call) {
        const single = await list([one]);
        if (single.isOk) keep([one], single.value);
        else failed.set(one.type.metadataType, single);
      }
    });
    return { found, failed };
  };
}
