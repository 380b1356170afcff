import { createHash } from 'node:crypto';
import type { MetadataStore } from './metadata-store.ts';
import { TYPES } from './metadata-types.ts';

/** Files that hold components of their own: a deployment adds those that it has, and leaves the others. */
const PARENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  object: {
    CustomField: 'fields',
    ValidationRule: 'validationRules',
    ListView: 'listViews',
    RecordType: 'recordTypes',
    WebLink: 'webLinks',
    FieldSet: 'fieldSets',
    CompactLayout: 'compactLayouts',
    BusinessProcess: 'businessProcesses',
    SharingReason: 'sharingReasons',
    Index: 'indexes',
  },
  labels: { CustomLabel: 'labels' },
  workflow: {
    WorkflowAlert: 'alerts',
    WorkflowFieldUpdate: 'fieldUpdates',
    WorkflowRule: 'rules',
    WorkflowTask: 'tasks',
    WorkflowOutboundMessage: 'outboundMessages',
  },
};
const CHILD_TYPES: ReadonlyMap<string, { suffix: string; element: string }> = new Map(
  Object.entries(PARENTS).flatMap(([suffix, children]) =>
    Object.entries(children).map(([type, element]) => [type, { suffix, element }] as const),
  ),
);
const FILE_OF_LABELS = 'labels/CustomLabels.labels';

/** A component by type and name, as `package.xml` names it. */
export interface NamedComponent {
  type: string;
  fullName: string;
}

/** Part of a file that is replaced as a whole: the file itself, or one element of a parent's. */
interface Piece {
  key: string;
  text: Buffer;
}

/** The files of an archive, found by the names of components that they may belong to. */
export class FileSet {
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly #byName = new Map<string, string[]>();

  constructor(contents: ReadonlyMap<string, Buffer>) {
    this.contents = contents;
    for (const path of contents.keys()) {
      const [, ...segments] = path.split('/');
      // A bundle is a folder, other files have the name of their component before one of their dots.
      for (let depth = 1; depth < segments.length; depth++) this.#add(segments.slice(0, depth).join('/'), path);
      const name = segments.join('/');
      const last = name.lastIndexOf('/');
      for (let dot = name.length; dot > last + 1; dot = name.lastIndexOf('.', dot - 1))
        this.#add(name.slice(0, dot), path);
    }
  }

  named(fullName: string): string[] {
    return this.#byName.get(fullName) ?? [];
  }

  #add(name: string, path: string): void {
    const paths = this.#byName.get(name);
    if (paths) paths.push(path);
    else this.#byName.set(name, [path]);
  }
}

/** What was deployed to an org, by component; written to its metadata, too, so that it can be retrieved. */
export class DeployedComponents {
  readonly #metadata: MetadataStore;
  /** Pieces by path of file. */
  readonly #files = new Map<string, Map<string, Buffer>>();
  readonly #components = new Set<string>();
  /** Directories of types that the simulator does not know otherwise. */
  readonly #directories = new Map<string, string>();

  constructor(metadata: MetadataStore) {
    this.#metadata = metadata;
  }

  /** `Type:Name`, in order. */
  names(): string[] {
    return [...this.#components].toSorted();
  }

  has({ type, fullName }: NamedComponent): boolean {
    return this.#components.has(`${type}:${fullName}`);
  }

  /** Digests of all that was deployed, by path and element: two orgs that have the same have equal contents. */
  contents(): Record<string, string> {
    const all: Record<string, string> = {};
    for (const [path, pieces] of this.#files)
      for (const [key, text] of pieces) all[`${path}${key}`] = createHash('sha256').update(text).digest('hex');
    return Object.fromEntries(Object.entries(all).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** Test classes of the org, by name. */
  testClasses(): string[] {
    return [...this.#files]
      .filter(([path, pieces]) => path.endsWith('.cls') && /@istest\b/i.test(String(pieces.get(''))))
      .map(([path]) => path.slice('classes/'.length, -'.cls'.length));
  }

  /** The files of the archive that belong to a component; empty where it has none. */
  filesOf({ type, fullName }: NamedComponent, files: FileSet): string[] {
    const child = CHILD_TYPES.get(type);
    if (type === 'CustomLabel') return files.contents.has(FILE_OF_LABELS) ? [FILE_OF_LABELS] : [];
    if (child) return files.named(fullName.split('.')[0] ?? '').filter((path) => path.endsWith(`.${child.suffix}`));
    const directory = this.#directoryOf(type);
    return files.named(fullName).filter((path) => directory === undefined || path.startsWith(`${directory}/`));
  }

  /** Whether what the archive has for a component differs from what the org has. */
  isChanged(component: NamedComponent, files: FileSet): boolean {
    return this.filesOf(component, files).some((path) =>
      piecesOf(path, files.contents.get(path) ?? Buffer.alloc(0)).some(
        ({ key, text }) => !this.#files.get(path)?.get(key)?.equals(text),
      ),
    );
  }

  add(component: NamedComponent, files: FileSet): void {
    this.#components.add(`${component.type}:${component.fullName}`);
    for (const path of this.filesOf(component, files)) {
      if (!CHILD_TYPES.has(component.type)) this.#directories.set(component.type, path.split('/')[0] ?? '');
      const own = this.#files.get(path) ?? new Map<string, Buffer>();
      this.#files.set(path, own);
      for (const { key, text } of piecesOf(path, files.contents.get(path) ?? Buffer.alloc(0))) {
        own.set(key, text);
        this.#addChild(path, key);
      }
      this.#write(path, own);
    }
  }

  /** False where the org has no such component. */
  remove({ type, fullName }: NamedComponent): boolean {
    if (!this.#components.delete(`${type}:${fullName}`)) return false;
    const child = CHILD_TYPES.get(type);
    const held = new FileSet(new Map([...this.#files.keys()].map((path) => [path, Buffer.alloc(0)])));
    for (const path of this.filesOf({ type, fullName }, held)) {
      const own = this.#files.get(path);
      if (child && own) {
        own.delete(`#${child.element}:${type === 'CustomLabel' ? fullName : fullName.split('.').slice(1).join('.')}`);
        this.#write(path, own);
        continue;
      }
      this.#files.delete(path);
      this.#metadata.remove(path);
    }
    if (!child)
      for (const name of this.#components)
        if (CHILD_TYPES.has(name.split(':')[0] ?? '') && name.split(':')[1]?.startsWith(`${fullName}.`))
          this.#components.delete(name);
    return true;
  }

  #addChild(path: string, key: string): void {
    const [, element, name] = /^#(\w+):(.+)$/s.exec(key) ?? [];
    const suffix = path.split('.').at(-1) ?? '';
    const type = Object.entries(PARENTS[suffix] ?? {}).find(([, own]) => own === element)?.[0];
    if (type === undefined || name === undefined) return;
    const parent = path
      .split('/')
      .at(-1)
      ?.slice(0, -suffix.length - 1);
    this.#components.add(`${type}:${type === 'CustomLabel' ? name : `${parent}.${name}`}`);
  }

  #write(path: string, pieces: ReadonlyMap<string, Buffer>): void {
    this.#metadata.write(path, fileOf(path, pieces));
  }

  #directoryOf(type: string): string | undefined {
    return TYPES.find(({ xmlName }) => xmlName === type)?.directoryName ?? this.#directories.get(type);
  }
}

function piecesOf(path: string, content: Buffer): Piece[] {
  const children = PARENTS[path.split('.').at(-1) ?? ''];
  if (!children) return [{ key: '', text: content }];
  const xml = content.toString('utf8');
  const pieces = new Map<string, string>();
  // Elements directly below the root, which stands at the left margin or on the first line.
  for (const { name, text } of topElements(xml)) {
    const fullName = /<fullName>([^<]*)<\/fullName>/.exec(text)?.[1];
    const key = Object.values(children).includes(name) && fullName !== undefined ? `#${name}:${fullName}` : `#${name}`;
    pieces.set(key, key.includes(':') ? text : (pieces.get(key) ?? '') + text);
  }
  return [...pieces].map(([key, text]) => ({ key, text: Buffer.from(text) }));
}

function topElements(xml: string): { name: string; text: string }[] {
  const body = xml.replace(/^[\s\S]*?<(?![?!])\w[^>]*>/, '').replace(/<\/\w+>\s*$/, '');
  const found: { name: string; text: string }[] = [];
  let at = 0;
  for (;;) {
    const open = /<(\w+)(?:\s[^>]*)?(\/)?>/g;
    open.lastIndex = at;
    const start = open.exec(body);
    if (!start) return found;
    const [whole, name = '', selfClosed] = start;
    let end = start.index + whole.length;
    if (selfClosed === undefined) {
      const tag = new RegExp(`<(/?)${name}(?:\\s[^>]*)?(/?)>`, 'g');
      tag.lastIndex = end;
      for (let depth = 1; depth > 0; ) {
        const next = tag.exec(body);
        if (!next) return found;
        if (next[1] === '/') depth--;
        else if (next[2] === '') depth++;
        end = next.index + next[0].length;
      }
    }
    found.push({ name, text: body.slice(start.index, end).replace(/\s+/g, ' ') });
    at = end;
  }
}

const ROOTS: Readonly<Record<string, string>> = {
  object: 'CustomObject',
  labels: 'CustomLabels',
  workflow: 'Workflow',
};

/** The file of some pieces, as a retrieve gives it. */
function fileOf(path: string, pieces: ReadonlyMap<string, Buffer>): Buffer {
  const whole = pieces.get('');
  if (whole) return whole;
  const root = ROOTS[path.split('.').at(-1) ?? ''] ?? 'Metadata';
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://soap.sforce.com/2006/04/metadata">`;
  return Buffer.from(`${xml}${[...pieces.values()].map(String).join('')}</${root}>\n`);
}
