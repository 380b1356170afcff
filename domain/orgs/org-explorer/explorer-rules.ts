import { FOLDER_TYPES } from '../crm/component-type-rules.ts';

/** States of a file as the vendor's tools name them. */
export const FILE_STATES = ['Created', 'Changed', 'Unchanged', 'Deleted', 'Failed'] as const;
export type FileState = (typeof FILE_STATES)[number];

export const COMPONENT_CHANGES = ['created', 'changed', 'deleted'] as const;
export type ComponentChange = (typeof COMPONENT_CHANGES)[number];

/** `unknown`: both orgs have the component, and the source of one of them at least is not kept as it is now. */
export const DIFFERENCES = ['left_only', 'right_only', 'different', 'unknown'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** A type that a sync could not read, with the reason. */
export interface FailedType {
  metadataType: string;
  error: string;
}

export type SyncStatus = 'requested' | 'running' | 'succeeded' | 'failed';

/** Types that `listMetadata` has no answer for, although the org has them: what workers outside report of them stays. */
const UNLISTED_TYPES = new Set(['StandardValueSet', 'BotVersion']);
export const isListed = (metadataType: string): boolean => !UNLISTED_TYPES.has(metadataType);

const CONTENT_TYPES = new Map(Object.entries(FOLDER_TYPES).map(([content, folder]) => [folder, content]));

/** The type by which the folders of a type are listed. */
export const folderTypeOf = (metadataType: string): string => FOLDER_TYPES[metadataType] ?? `${metadataType}Folder`;
export const isFolderType = (metadataType: string): boolean => CONTENT_TYPES.has(metadataType);
/** The type under which a manifest names a component: folders are named among their contents. */
export const manifestTypeOf = (metadataType: string): string => CONTENT_TYPES.get(metadataType) ?? metadataType;

const INSTALLED_STATES = new Set(['installed', 'released', 'deleted', 'deprecated', 'beta']);

/** Whether a component belongs to a managed package that is installed in the org: nobody changes its source there. */
export const isManaged = (manageableState: string | null): boolean =>
  manageableState !== null && INSTALLED_STATES.has(manageableState);

/** The component of the parent's type that a child is a part of; undefined where the name does not say it. */
export function parentNameOf(childName: string): string | undefined {
  const dot = childName.indexOf('.');
  return dot > 0 ? childName.slice(0, dot) : undefined;
}

/** Whether a refresh of `types` does what one of `wanted` would do. */
export const coversTypes = (types: readonly string[] | null, wanted: readonly string[] | null): boolean =>
  types === null || (wanted !== null && wanted.every((type) => types.includes(type)));

/** The state of a file that was retrieved again. @param before digest of its content; undefined for a new one. */
export const fileStateAfter = (before: string | null | undefined, after: string): FileState =>
  before === undefined ? 'Created' : before === after ? 'Unchanged' : 'Changed';
