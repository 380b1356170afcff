import { partsOf } from '../../kernel/shared/at-once-rules.ts';
import type { ListedComponent, ListQuery, MetadataType } from '../crm/crm-metadata.port.ts';
import { fileNameOf } from './file-owner-rules.ts';
import { folderTypeOf, isListed, isManaged } from './explorer-rules.ts';

/** What `describeMetadata` says of a type; of a child type, what it is a part of. */
export type TypeDescription = Omit<MetadataType, 'name'> & { parentType: string | null };

/** A component as the org listed it. */
export interface IndexedComponent {
  memberName: string;
  fileName: string | null;
  parentType: string | null;
  lastModifiedAt: string | null;
  lastModifiedBy: string | null;
  manageableState: string | null;
  namespacePrefix: string | null;
  /** Its source is retrieved only when somebody asks for it, or it has none of its own. */
  isIndexOnly: boolean;
}

/** A type whose components are listed, with what the org says of it. */
export interface PlannedType {
  metadataType: string;
  description: TypeDescription;
}

export interface ListingPlan {
  types: PlannedType[];
  /** Asked for by name, and unknown to the org. */
  unknown: string[];
  /** Asked for by name, and not listed by the platform. */
  unlisted: string[];
}

/**
 * The types to list: those of the org, their children, and the folders of those in folders.
 * @param wanted null: all. Otherwise types with their children, whose changes the dates of their parents may not show.
 */
export function planListing(described: readonly MetadataType[], wanted: readonly string[] | null): ListingPlan {
  const all = described.flatMap(({ name, ...type }): PlannedType[] => {
    const own = { metadataType: name, description: { ...type, parentType: null } };
    const part = { ...type, isInFolder: false, hasMetaFile: false, childTypes: [] };
    return [
      ...(type.isInFolder
        ? [{ metadataType: folderTypeOf(name), description: { ...part, suffix: null, parentType: null } }]
        : []),
      own,
      ...type.childTypes.map((child) => ({ metadataType: child, description: { ...part, parentType: name } })),
    ];
  });
  const types = [...new Map(all.map((type) => [type.metadataType, type])).values()].filter(({ metadataType }) =>
    isListed(metadataType),
  );
  if (wanted === null) return { types, unknown: [], unlisted: [] };
  const names = new Set(wanted);
  const known = new Set(types.map(({ metadataType }) => metadataType));
  return {
    types: types.filter(
      ({ metadataType, description: { parentType } }) =>
        names.has(metadataType) || (parentType !== null && names.has(parentType)),
    ),
    unknown: wanted.filter((name) => !known.has(name) && isListed(name)),
    unlisted: wanted.filter((name) => !isListed(name)),
  };
}

/** Whether the org described a type before, and does not any more. @param described all types of the org. */
export function isNoLongerDescribed(described: readonly PlannedType[]) {
  const names = new Set(described.map(({ metadataType }) => metadataType));
  return ({ metadataType, description }: { metadataType: string; description: TypeDescription | null }): boolean =>
    names.size > 0 && description !== null && !names.has(metadataType);
}

/** The queries of one call, each with the type that it lists. */
export interface ListCall {
  queries: { query: ListQuery; type: PlannedType }[];
}

export const QUERIES_PER_CALL = 3;

/** Queries in calls of as many as the platform takes. */
export const callsOf = (queries: ListCall['queries']): ListCall[] =>
  partsOf(queries, QUERIES_PER_CALL).map((part) => ({ queries: part }));

/**
 * Which of the listed types a component has; where the platform leaves it out, by the folder and suffix of its file.
 * @returns undefined where that does not say it, as of children, whose file is their parent's: one query alone does.
 */
export function typeOfListed(
  { type, fileName }: Pick<ListedComponent, 'type' | 'fileName'>,
  types: readonly PlannedType[],
): PlannedType | undefined {
  const [first, ...others] = types;
  if (others.length === 0) return first;
  if (type !== null && type !== '') return types.find(({ metadataType }) => metadataType === type);
  const [only, ...more] = types.filter(
    ({ description: { directoryName, suffix } }) =>
      fileName?.startsWith(`${directoryName}/`) && (suffix === null || fileName.endsWith(`.${suffix}`)),
  );
  return more.length === 0 ? only : undefined;
}

/** A listed component as the index keeps it. */
export function indexedComponent(
  listed: ListedComponent,
  { metadataType, description }: PlannedType,
  indexOnly: ReadonlySet<string>,
): IndexedComponent {
  const { fullName, manageableState, namespacePrefix, lastModifiedAt, lastModifiedByName } = listed;
  return {
    memberName: fullName,
    fileName: listed.fileName ?? (description.parentType === null ? fileNameOf(description, fullName) : null),
    parentType: description.parentType,
    lastModifiedAt: momentOrNull(lastModifiedAt),
    lastModifiedBy: lastModifiedByName,
    manageableState,
    namespacePrefix: namespacePrefix === '' ? null : namespacePrefix,
    isIndexOnly: description.parentType !== null || isManaged(manageableState) || indexOnly.has(metadataType),
  };
}

/** The platform gives the beginning of 1970 where it knows no date. */
function momentOrNull(text: string | null): string | null {
  const moment = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(moment) || moment <= 0 ? null : new Date(moment).toISOString();
}
