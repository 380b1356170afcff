/** Types whose components are in folders, with the type by which these are listed. */
export const FOLDER_TYPES: Readonly<Record<string, string>> = {
  Dashboard: 'DashboardFolder',
  Document: 'DocumentFolder',
  EmailTemplate: 'EmailFolder',
  Report: 'ReportFolder',
};
/** No `*` covers them, and they are listed folder by folder. */
export const CONTENTS_OF_FOLDERS: readonly string[] = Object.keys(FOLDER_TYPES);

/** Removed together with the custom object before the dot of their names. */
export const CHILDREN_OF_OBJECTS: readonly string[] = [
  'BusinessProcess',
  'CompactLayout',
  'CustomField',
  'FieldSet',
  'Index',
  'ListView',
  'RecordType',
  'SharingReason',
  'ValidationRule',
  'WebLink',
];

/** Custom objects and fields have a suffix such as `__c`; what has none comes with the platform. */
export const isStandardObject = (componentType: string, fullName: string): boolean =>
  componentType === 'CustomObject' && !fullName.includes('__');

export const isStandardField = (componentType: string, fullName: string): boolean =>
  componentType === 'CustomField' && !fullName.slice(fullName.indexOf('.') + 1).includes('__');

/**
 * What a component is known by within its type: names are compared without case, and as they are read, since manifests and
 * orgs escape them differently. The database has it as `component_name_key`.
 */
export function componentNameKey(fullName: string): string {
  try {
    return decodeURIComponent(fullName).toLowerCase();
  } catch {
    return fullName.toLowerCase();
  }
}
