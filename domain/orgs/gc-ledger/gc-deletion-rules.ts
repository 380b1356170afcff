import { isStandardField, isStandardObject } from '../crm/component-type-rules.ts';
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
  FlowDefinition: 'A flow is deleted by its versions; deactivate it in the setup of the org, and delete these',
  CustomObjectTranslation: TRANSLATION,
  GlobalValueSetTranslation: TRANSLATION,
  StandardValueSetTranslation: TRANSLATION,
  Translations: TRANSLATION,
};
const STANDARD_OBJECT = 'Standard objects and their standard fields cannot be deleted';

const FLOW =
  'A flow that is active is not deleted by its name; deactivate it in the setup of the org, and delete its versions (such as My_Flow-2)';
/** The name of a version of a flow ends with its number. */
const FLOW_VERSION = /-\d+$/;

/** What keeps a component, or a child of it, from being deleted. */
export interface Keeper {
  /** A manifest of a package of the branch, one of another repository, or a person who dismissed the entry of a package. */
  kind: 'package' | 'repository' | 'dismissal';
  /** The package or the repository; null for a repository that the caller does not reach. */
  name: string | null;
  /** What goes together with the component, by type and name: this is what is kept. */
  child: string | null;
}

/** Why a manifest cannot delete a component; undefined when it can. */
export function notDeletableReason({ componentType, fullName }: Deletion): string | undefined {
  if (fullName.includes('*')) return 'A manifest of deletions has no wildcards';
  if (isStandardObject(componentType, fullName) || isStandardField(componentType, fullName)) return STANDARD_OBJECT;
  if (componentType === 'Flow' && !FLOW_VERSION.test(fullName)) return FLOW;
  return Object.hasOwn(NOT_DELETABLE, componentType) ? NOT_DELETABLE[componentType] : undefined;
}

const KEPT_BY: Record<Keeper['kind'], (name: string) => string> = {
  package: (name) => `is in the manifest of package ${name}`,
  repository: (name) => `is in a manifest of ${name}`,
  dismissal: (name) => `was dismissed for package ${name}`,
};

/** Why a component is to be kept. */
export const keptReason = ({ kind, name, child }: Keeper): string =>
  `${child === null ? 'It' : `Its part ${child}`} ${KEPT_BY[kind](name ?? 'another repository')}`;

/** Why a component is not deleted: it is not known whether the org has it, and a type that it lacks fails a deployment. */
export const UNKNOWN_REASON =
  'The org of the environment did not say whether it has it; a type that an org lacks fails the whole deployment';

/** Why nothing is deleted: what the manifest of a package holds is not known. */
export const unreadableReason = (packageName: string): string =>
  `The manifest of package ${packageName} cannot be read, so it is not known what that package holds`;

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
