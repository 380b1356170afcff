import { isFolderType } from './explorer-rules.ts';

/** A component that may own files of an archive. */
export interface FileOwner {
  metadataType: string;
  memberName: string;
  /** File as the platform lists it: `classes/A.cls`; the folder of a bundle, `lwc/card`. */
  fileName: string | null;
}

const META_SUFFIX = '-meta.xml';
const NOT_A_COMPONENT = /^(?:package|destructiveChanges\w*)\.xml$/;

/** The path of a file within its package: archives put one package into a folder of its own. */
export const packagePath = (entryPath: string): string => entryPath.replace(/^unpackaged\//, '');

/** Names may come percent-encoded in one place and plain in another. */
function plain(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** What the platform calls the file of a component that it lists without one. */
export const fileNameOf = (
  { directoryName, suffix }: { directoryName: string; suffix: string | null },
  memberName: string,
): string => `${directoryName}/${memberName}${suffix === null ? '' : `.${suffix}`}`;

/**
 * Finds the component that a file of an archive belongs to, by the file names that the platform listed:
 * - the file of the component: `classes/A.cls`
 * - its `-meta.xml`: `classes/A.cls-meta.xml`, `reports/Sales-meta.xml` of a folder
 * - a file in its folder: `lwc/card/card.js`, `experiences/site/views/home.json` beside `experiences/site.site`
 *
 * The component with the longest name wins. A folder of reports owns no report: those are components.
 */
export function createFileOwners<Owner extends FileOwner>(
  owners: Iterable<Owner>,
): (path: string) => Owner | undefined {
  const byFile = new Map<string, Owner>();
  const byFolder = new Map<string, Owner>();
  for (const owner of owners) {
    if (owner.fileName === null) continue;
    const fileName = plain(packagePath(owner.fileName));
    byFile.set(fileName, owner);
    if (isFolderType(owner.metadataType)) continue;
    const [directory = ''] = fileName.split('/');
    byFolder.set(fileName, owner);
    byFolder.set(`${directory}/${plain(owner.memberName)}`, owner);
  }
  return (entryPath) => {
    const path = plain(packagePath(entryPath));
    if (NOT_A_COMPONENT.test(path)) return undefined;
    const own =
      byFile.get(path) ?? (path.endsWith(META_SUFFIX) ? byFile.get(path.slice(0, -META_SUFFIX.length)) : undefined);
    if (own) return own;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const owner = byFolder.get(path.slice(0, end));
      if (owner) return owner;
    }
    return undefined;
  };
}
