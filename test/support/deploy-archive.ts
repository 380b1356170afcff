import type { DeployArchive } from '../../domain/orgs/crm/crm-deployments.port.ts';
import { zipOf } from '../simulators/crm-org/zip.ts';

const types = (members: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(members)
    .map(
      ([name, all]) =>
        `<types>${all.map((member) => `<members>${member}</members>`).join('')}<name>${name}</name></types>`,
    )
    .join('');
const manifest = (members: Readonly<Record<string, readonly string[]>>): string =>
  `<Package xmlns="http://soap.sforce.com/2006/04/metadata">${types(members)}<version>66.0</version></Package>`;

/** An archive that deploys files, and deletes components. */
export function archiveZip(
  components: Readonly<Record<string, readonly string[]>>,
  files: Readonly<Record<string, string>>,
  deletions?: Readonly<Record<string, readonly string[]>>,
): Buffer {
  return zipOf([
    { name: 'package.xml', content: manifest(components) },
    ...(deletions ? [{ name: 'destructiveChanges.xml', content: manifest(deletions) }] : []),
    ...Object.entries(files).map(([name, content]) => ({ name, content })),
  ]);
}

/** Classes by name, as an archive. */
export const classesZip = (classes: Readonly<Record<string, string>>, deletions?: Record<string, string[]>): Buffer =>
  archiveZip(
    { ApexClass: Object.keys(classes) },
    Object.fromEntries(Object.entries(classes).map(([name, content]) => [`classes/${name}.cls`, content])),
    deletions,
  );

export const deployArchive = (zip: Buffer): DeployArchive => ({
  sizeBytes: zip.length,
  async *content() {
    for (let at = 0; at < zip.length; at += 65_536) yield zip.subarray(at, at + 65_536);
  },
});
