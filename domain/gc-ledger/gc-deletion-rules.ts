import { xmlText } from '../crm/xml-rules.ts';

/** The most components of one manifest: the platform takes at most 10,000 files in a deployment. */
export const DELETIONS_MAX = 10_000;
/** The version of manifests where the caller names none: one that every org has by now. */
export const MANIFEST_VERSION = '66.0';

export interface Deletion {
  componentType: string;
  fullName: string;
}

/** A manifest as the build tools of the field write it in JSON. */
export interface Manifest {
  Package: { types: { name: string; members: string[] }[]; version: string };
}

const TRANSLATION = 'Translations are deployed with what they translate, and cannot be deleted by a manifest';
/** Types that the platform does not delete by a manifest, with what a person can do. */
const NOT_DELETABLE: Readonly<Record<string, string>> = {
  RecordType: 'Record types cannot be deleted by a manifest; delete it in the setup of the org',
  StandardValueSet:
    'Values of picklists cannot be deleted by a manifest; deactivate or delete them in the setup of the org',
  Settings: 'Settings are changed, not deleted',
  CustomObjectTranslation: TRANSLATION,
  GlobalValueSetTranslation: TRANSLATION,
  StandardValueSetTranslation: TRANSLATION,
  Translations: TRANSLATION,
};
const STANDARD_OBJECT = 'Standard objects and their standard fields cannot be deleted';

/** Why a manifest cannot delete a component; undefined when it can. */
export function notDeletableReason({ componentType, fullName }: Deletion): string | undefined {
  if (fullName.includes('*')) return 'A manifest of deletions has no wildcards';
  if (componentType === 'CustomObject' && !fullName.includes('__')) return STANDARD_OBJECT;
  if (componentType === 'CustomField' && !fullName.slice(fullName.indexOf('.') + 1).includes('__'))
    return STANDARD_OBJECT;
  return Object.hasOwn(NOT_DELETABLE, componentType) ? NOT_DELETABLE[componentType] : undefined;
}

/** @param deletions each once, sorted by type and name. */
export function deletionManifest(deletions: readonly Deletion[], version: string): Manifest {
  const byType = Map.groupBy(deletions, ({ componentType }) => componentType);
  const types = [...byType].map(([name, ofType]) => ({ name, members: ofType.map(({ fullName }) => fullName) }));
  return { Package: { types, version } };
}

/** A manifest as XML, in the order of elements that the platform's own tools write. */
export function manifestXml({ Package: { types, version } }: Manifest): string {
  const lines = types.flatMap(({ name, members }) => [
    '    <types>',
    ...members.map((member) => `        <members>${xmlText(member)}</members>`),
    `        <name>${xmlText(name)}</name>`,
    '    </types>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Package xmlns="http://soap.sforce.com/2006/04/metadata">',
    ...lines,
    `    <version>${xmlText(version)}</version>`,
    '</Package>',
    '',
  ].join('\n');
}
