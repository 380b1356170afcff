import type { ListedComponent, ListQuery } from '../crm/crm-metadata.port.ts';
import type { CrmAnswer, CrmFailure, CrmOrg } from '../crm/crm-platform.port.ts';
import { componentNameKey, CONTENTS_OF_FOLDERS, isStandardField } from '../crm/component-type-rules.ts';
import { eachAtOnce, partsOf } from '../../kernel/shared/at-once-rules.ts';
import type { Presence } from './gc-ledger-rules.ts';

/** What is asked of an org about a component. */
export interface Asked {
  componentType: string;
  fullName: string;
}

/** The platform lists at most three types in a call. */
const QUERIES_PER_CALL = 3;
const CALLS_AT_ONCE = 4;
/** Folders of one check; components of further ones are unknown. */
const FOLDERS_MAX = 500;
/** The platform lists nothing of these, though they are there. */
const NEVER_LISTED = new Set(['BotVersion', 'StandardValueSet']);

const queryKey = ({ type, folder = '' }: ListQuery): string => `${type}/${folder}`;

/** The list that would have a component; undefined where none does. */
function queryFor({ componentType: type, fullName }: Asked): ListQuery | undefined {
  if (NEVER_LISTED.has(type)) return undefined;
  // Standard fields are in no list.
  if (isStandardField(type, fullName)) return undefined;
  if (!CONTENTS_OF_FOLDERS.includes(type)) return { type };
  const slash = fullName.lastIndexOf('/');
  return slash > 0 ? { type, folder: fullName.slice(0, slash) } : undefined;
}

/** What an org has, by what was asked. What could not be asked for is unknown. */
export interface Listing {
  presenceOf: (asked: Asked) => Presence;
  /** The first failure of a call; undefined when all was answered. */
  failure: CrmFailure | undefined;
}

/** Adds the lists that would have some components. */
export function noteQueries(queries: Map<string, ListQuery>, asked: Iterable<Asked>): void {
  for (const each of asked) {
    const query = queryFor(each);
    if (query && (query.folder === undefined || queries.size < FOLDERS_MAX)) queries.set(queryKey(query), query);
  }
}

/** What a listing asks of an org. */
type ListedOrg = Pick<CrmOrg, 'describeMetadata' | 'listMetadata'>;

/** Lists what an org has of some types, and in some folders. */
export async function listComponents(org: ListedOrg, queries: Iterable<ListQuery>): Promise<Listing> {
  const described = await org.describeMetadata();
  if (!described.isOk) return { presenceOf: () => 'unknown', failure: described };
  const supported = new Set(described.value.flatMap(({ name, childTypes }) => [name, ...childTypes]));
  const known = [...queries].filter(({ type }) => supported.has(type));
  const { found, failure } = await askAll(org, known);
  return {
    failure,
    presenceOf(component) {
      const query = queryFor(component);
      const names = query && found.get(queryKey(query));
      if (!names) return 'unknown';
      return names.has(componentNameKey(component.fullName)) ? 'present' : 'absent';
    },
  };
}

/** Names by query; a query that fails has none, whatever it was asked together with. */
async function askAll(org: ListedOrg, queries: readonly ListQuery[]) {
  const found = new Map<string, Set<string>>();
  let failure: CrmFailure | undefined;
  let isAway = false;
  const keep = (chunk: readonly ListQuery[], answer: CrmAnswer<ListedComponent[]>): boolean => {
    if (!answer.isOk) {
      failure ??= answer;
      // What the org refuses is about the question; all else would fail for every other one, too.
      isAway ||= answer.kind !== 'refused' && answer.kind !== 'not_found';
      return false;
    }
    for (const query of chunk) found.set(queryKey(query), new Set());
    for (const { type, fullName, namespacePrefix } of answer.value) {
      const fitting = chunk.filter((query) => query.type === type);
      // A type that nobody asked for may answer any of the questions: in doubt a component is there.
      const asked = fitting.length > 0 ? fitting : chunk;
      const names = [fullName, ...(namespacePrefix === null ? [] : [fullName.replaceAll(`${namespacePrefix}__`, '')])];
      for (const query of asked) for (const name of names) found.get(queryKey(query))?.add(componentNameKey(name));
    }
    return true;
  };
  const ask = async (chunk: readonly ListQuery[]) => {
    if (keep(chunk, await org.listMetadata(chunk)) || chunk.length === 1) return;
    // One bad type fails the whole call.
    for (const query of chunk) if (!isAway) keep([query], await org.listMetadata([query]));
  };
  await eachAtOnce(partsOf(queries, QUERIES_PER_CALL), CALLS_AT_ONCE, ask, { isOver: () => isAway });
  return { found, failure };
}
