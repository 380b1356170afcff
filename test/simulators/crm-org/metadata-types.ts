/** A type of metadata that the simulated orgs have, as `describeMetadata` shows it. */
export interface SimulatedType {
  xmlName: string;
  directoryName: string;
  suffix: string | null;
  inFolder?: boolean;
  metaFile?: boolean;
  /** Components are folders of files. */
  isBundle?: boolean;
  /** Children, by the element that holds them in the parent's file. */
  children?: Record<string, string>;
}

export const TYPES: readonly SimulatedType[] = [
  { xmlName: 'ApexClass', directoryName: 'classes', suffix: 'cls', metaFile: true },
  { xmlName: 'ApexTrigger', directoryName: 'triggers', suffix: 'trigger', metaFile: true },
  { xmlName: 'ApexPage', directoryName: 'pages', suffix: 'page', metaFile: true },
  { xmlName: 'StaticResource', directoryName: 'staticresources', suffix: 'resource', metaFile: true },
  {
    xmlName: 'CustomObject',
    directoryName: 'objects',
    suffix: 'object',
    children: {
      CustomField: 'fields',
      ValidationRule: 'validationRules',
      ListView: 'listViews',
      RecordType: 'recordTypes',
    },
  },
  { xmlName: 'CustomLabels', directoryName: 'labels', suffix: 'labels', children: { CustomLabel: 'labels' } },
  { xmlName: 'CustomMetadata', directoryName: 'customMetadata', suffix: 'md' },
  { xmlName: 'Layout', directoryName: 'layouts', suffix: 'layout' },
  { xmlName: 'Flow', directoryName: 'flows', suffix: 'flow' },
  { xmlName: 'PermissionSet', directoryName: 'permissionsets', suffix: 'permissionset' },
  { xmlName: 'Profile', directoryName: 'profiles', suffix: 'profile' },
  { xmlName: 'StandardValueSet', directoryName: 'standardValueSets', suffix: 'standardValueSet' },
  { xmlName: 'LightningComponentBundle', directoryName: 'lwc', suffix: null, isBundle: true },
  { xmlName: 'AuraDefinitionBundle', directoryName: 'aura', suffix: null, isBundle: true },
  { xmlName: 'Report', directoryName: 'reports', suffix: 'report', inFolder: true },
  { xmlName: 'Dashboard', directoryName: 'dashboards', suffix: 'dashboard', inFolder: true },
  { xmlName: 'EmailTemplate', directoryName: 'email', suffix: 'email', inFolder: true, metaFile: true },
  { xmlName: 'Document', directoryName: 'documents', suffix: null, inFolder: true, metaFile: true },
];

/** Types of folders, which are listed before what is in them. */
export const FOLDER_TYPES: Readonly<Record<string, string>> = {
  ReportFolder: 'Report',
  DashboardFolder: 'Dashboard',
  EmailFolder: 'EmailTemplate',
  DocumentFolder: 'Document',
};

/** Types of which `listMetadata` answers nothing although the org has them. */
export const UNLISTED = new Set(['StandardValueSet']);
