import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FOLDER_TYPES, type SimulatedType, TYPES, UNLISTED } from './metadata-types.ts';

export interface StoredFile {
  path: string;
  content: Buffer;
  createdAt: Date;
  modifiedAt: Date;
  modifiedBy: string;
  manageableState: string | null;
  namespacePrefix: string | null;
}

export interface FileOptions {
  modifiedBy?: string;
  modifiedAt?: Date;
  manageableState?: string;
  namespacePrefix?: string;
}

/** A component as `listMetadata` shows it, with the files that a retrieve gives for it. */
export interface StoredComponent {
  type: string;
  fullName: string;
  fileName: string;
  id: string;
  newest: StoredFile;
  files: StoredFile[];
}

/** Metadata of one org: files in the layout of the platform's archives, `classes/A.cls`. */
export class MetadataStore {
  readonly #directories = new Map<string, Map<string, StoredFile>>();
  #folder: string | undefined;

  /** Serves the files of a folder, as they are at each request; files that are written besides stay. */
  serveFolder(folder: string): void {
    this.#folder = folder;
    this.#readFolder();
  }

  write(path: string, content: Buffer | string, options: FileOptions = {}): void {
    const directory = path.slice(0, path.indexOf('/'));
    const files = this.#directories.get(directory) ?? new Map<string, StoredFile>();
    this.#directories.set(directory, files);
    const now = options.modifiedAt ?? new Date();
    files.set(path, {
      path,
      content: Buffer.from(content),
      createdAt: files.get(path)?.createdAt ?? now,
      modifiedAt: now,
      modifiedBy: options.modifiedBy ?? 'Ada Admin',
      manageableState: options.manageableState ?? 'unmanaged',
      namespacePrefix: options.namespacePrefix ?? null,
    });
  }

  remove(path: string): boolean {
    return this.#directories.get(path.slice(0, path.indexOf('/')))?.delete(path) ?? false;
  }

  paths(): string[] {
    this.#readFolder();
    return [...this.#directories.values()].flatMap((files) => [...files.keys()]).toSorted();
  }

  /** Undefined for a type that the org does not have. */
  list(type: string, folder: string | undefined): StoredComponent[] | undefined {
    this.#readFolder();
    if (UNLISTED.has(type)) return [];
    const folderOf = FOLDER_TYPES[type];
    if (folderOf !== undefined) return this.#folders(type, typeNamed(folderOf));
    const own = typeNamed(type);
    if (!own) {
      const parent = TYPES.find(({ children }) => children && type in children);
      return parent && this.#children(parent, type);
    }
    if (own.inFolder)
      return folder === undefined
        ? []
        : this.#components(own).filter(({ fullName }) => fullName.startsWith(`${folder}/`));
    return this.#components(own);
  }

  /** All components that a manifest can name by name, those of folders included; a child has the file of its parent. */
  byName(type: string): Map<string, StoredComponent> {
    const own = typeNamed(type);
    const components = own ? this.#components(own) : (this.list(type, undefined) ?? []);
    return new Map(components.map((component) => [component.fullName, component]));
  }

  /** What `*` takes: neither standard objects nor what is in folders. */
  all(type: string): StoredComponent[] | undefined {
    const found = this.list(type, undefined);
    return type === 'CustomObject' ? found?.filter(({ fullName }) => fullName.includes('__')) : found;
  }

  #components(type: SimulatedType): StoredComponent[] {
    const files = this.#directories.get(type.directoryName) ?? new Map<string, StoredFile>();
    const components = new Map<string, StoredComponent>();
    for (const file of files.values()) {
      const rest = file.path.slice(type.directoryName.length + 1);
      if (type.isBundle) {
        const name = rest.split('/')[0] ?? rest;
        const known = components.get(name);
        if (!known) components.set(name, componentOf(type.xmlName, name, `${type.directoryName}/${name}`, [file]));
        else {
          known.files.push(file);
          if (file.modifiedAt > known.newest.modifiedAt) known.newest = file;
        }
        continue;
      }
      if (rest.endsWith('-meta.xml') || (type.inFolder && !rest.includes('/'))) continue;
      if (type.suffix !== null && !rest.endsWith(`.${type.suffix}`)) continue;
      const name = type.suffix === null ? rest : rest.slice(0, -type.suffix.length - 1);
      const meta = files.get(`${file.path}-meta.xml`);
      const all = type.metaFile ? [file, meta ?? generatedMeta(type, file)] : [file];
      components.set(name, componentOf(type.xmlName, name, file.path, all));
    }
    return [...components.values()];
  }

  #folders(type: string, contents: SimulatedType | undefined): StoredComponent[] {
    if (!contents) return [];
    const files = [...(this.#directories.get(contents.directoryName)?.values() ?? [])];
    const folders = new Map<string, StoredFile>();
    for (const file of files) {
      const [, first = '', second] = file.path.split('/');
      const name = second === undefined ? first.replace(/-meta\.xml$/, '') : first;
      if (!folders.has(name) || second === undefined) folders.set(name, file);
    }
    return [...folders].map(([name, file]) => componentOf(type, name, `${contents.directoryName}/${name}`, [file]));
  }

  #children(parent: SimulatedType, type: string): StoredComponent[] {
    const element = parent.children?.[type] ?? '';
    const pattern = new RegExp(`<${element}>\\s*<fullName>([^<]+)</fullName>`, 'g');
    return this.#components(parent).flatMap(({ fullName: parentName, newest, files, fileName }) =>
      [...newest.content.toString('utf8').matchAll(pattern)].map(([, name = '']) =>
        componentOf(type, parent.xmlName === 'CustomLabels' ? name : `${parentName}.${name}`, fileName, files),
      ),
    );
  }

  #readFolder(): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    const seen = new Set<string>();
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const full = join(entry.parentPath, entry.name);
      const path = relative(folder, full).replaceAll('\\', '/');
      if (!path.includes('/')) continue;
      seen.add(path);
      const { mtime } = statSync(full);
      if (this.#fromFolder.get(path) === mtime.getTime()) continue;
      this.#fromFolder.set(path, mtime.getTime());
      this.write(path, readFileSync(full), { modifiedAt: mtime });
    }
    for (const path of this.#fromFolder.keys()) {
      if (seen.has(path)) continue;
      this.#fromFolder.delete(path);
      this.remove(path);
    }
  }
  readonly #fromFolder = new Map<string, number>();
}

const typeNamed = (name: string): SimulatedType | undefined => TYPES.find(({ xmlName }) => xmlName === name);

/** Ids stay the same while the component has its name. */
const idOf = (type: string, fullName: string): string =>
  `01p${createHash('sha1').update(`${type} ${fullName}`).digest('hex').slice(0, 12)}AAA`;

function componentOf(
  type: string,
  fullName: string,
  fileName: string,
  files: [StoredFile, ...StoredFile[]] | StoredFile[],
): StoredComponent {
  const [newest] = files;
  if (!newest) throw new Error(`${fullName} has no file`);
  return { type, fullName, fileName, id: idOf(type, fullName), newest, files: [...files] };
}

const generatedMeta = ({ xmlName }: SimulatedType, file: StoredFile): StoredFile => ({
  ...file,
  path: `${file.path}-meta.xml`,
  content: Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<${xmlName} xmlns="http://soap.sforce.com/2006/04/metadata">\n    <apiVersion>66.0</apiVersion>\n    <status>Active</status>\n</${xmlName}>\n`,
  ),
});
