/** Types whose contents are in folders: no `*` covers them, and they are listed folder by folder. */
export const FOLDER_TYPES: readonly string[] = ['Dashboard', 'Document', 'EmailTemplate', 'Report'];

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
