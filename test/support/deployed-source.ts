import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { SaxesParser } from 'saxes';
import { membersOf } from './source-builds.ts';

interface RegistryType {
  name: string;
  directoryName?: string;
  suffix?: string;
  strategies?: { adapter?: string; recomposition?: string };
  children?: { types: Record<string, ChildType>; directories?: Record<string, string> };
}
interface ChildType {
  name: string;
  xmlElementName?: string;
  uniqueIdElement?: string;
  isAddressable?: boolean;
}

const { types } = createRequire(import.meta.url)(
  '@salesforce/source-deploy-retrieve/lib/src/registry/metadataRegistry.json',
) as { types: Record<string, RegistryType> };
const ofDirectory = (directory: string) =>
  Object.values(types).filter(({ directoryName }) => directoryName === directory);
const ofName = new Map(Object.values(types).map((type) => [type.name, type]));

const hash = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');

/**
 * What an org has after deployments, as the platform would take them: of a file that holds several components those that
 * the manifest names, of a bundle all files together.
 */
export class DeployedSource {
  /** By `Type Name` of what stands in a file with others, by the path of other files. */
  readonly components: Map<string, string>;

  constructor(components: ReadonlyMap<string, string> = new Map()) {
    this.components = new Map(components);
  }

  deploy(files: ReadonlyMap<string, Buffer>): this {
    const members = new Set(membersOf(files.get('package.xml')));
    const cleared = new Set<string>();
    for (const [path, content] of files) {
      if (!path.includes('/')) continue;
      const [directory = '', name = ''] = path.split('/');
      const found = ofDirectory(directory);
      const holder = found.find(({ children, suffix }) => children && path.endsWith(`.${suffix}`));
      if (holder) this.#deployParts(holder, name.slice(0, name.lastIndexOf('.')), content.toString(), members);
      else {
        if (found.some(({ strategies }) => strategies?.adapter === 'bundle'))
          this.#clear(`${directory}/${name}/`, cleared);
        this.components.set(path, hash(content));
      }
    }
    for (const member of membersOf(files.get('destructiveChangesPost.xml'))) this.#delete(member);
    return this;
  }

  #clear(prefix: string, cleared: Set<string>): void {
    if (cleared.has(prefix)) return;
    cleared.add(prefix);
    for (const path of this.components.keys()) if (path.startsWith(prefix)) this.components.delete(path);
  }

  #deployParts(type: RegistryType, root: string, content: string, members: ReadonlySet<string>): void {
    const own: string[] = [];
    for (const { tag, text, child } of elementsOf(content)) {
      const part =
        Object.values(type.children?.types ?? {}).find(({ xmlElementName }) => xmlElementName === tag) ??
        type.children?.types[type.children.directories?.[tag] ?? ''];
      const name = child(part?.uniqueIdElement ?? 'fullName');
      if (!part || part.isAddressable === false || name === undefined) own.push(text);
      else {
        const key = `${part.name} ${type.strategies?.recomposition === 'startEmpty' ? name : `${root}.${name}`}`;
        if (members.has(key)) this.components.set(key, hash(text));
      }
    }
    const key = `${type.name} ${root}`;
    // What only holds others is nothing by itself, and stays when they go.
    const isEmpty = own.length === 0 && type.strategies?.adapter !== 'decomposed';
    if (!isEmpty && members.has(key)) this.components.set(key, hash(own.toSorted().join('\n')));
  }

  #delete(member: string): void {
    const [type = '', name = ''] = member.split(/ (.*)/s);
    const directory = ofName.get(type)?.directoryName;
    for (const key of this.components.keys()) {
      const isPart = key === member || (type === 'CustomObject' && key.includes(` ${name}.`));
      const path = `${directory}/${name.replace(/\/$/, '-')}`;
      const isFile = directory !== undefined && key.startsWith(path) && /^$|[./-]/.test(key.charAt(path.length));
      if (isPart || isFile) this.components.delete(key);
    }
  }
}

/** What two orgs do not have alike, as `+`, `-` or `~` and the component. */
export function differences(one: DeployedSource, other: DeployedSource): string[] {
  const keys = new Set([...one.components.keys(), ...other.components.keys()]);
  return [...keys].toSorted().flatMap((key) => {
    const [a, b] = [one.components.get(key), other.components.get(key)];
    return a === b ? [] : [`${a === undefined ? '+' : b === undefined ? '-' : '~'} ${key}`];
  });
}

interface Element {
  tag: string;
  /** All of it, without white space between elements. */
  text: string;
  child: (tag: string) => string | undefined;
}

/** The elements right below the root. */
function elementsOf(content: string): Element[] {
  const elements: Element[] = [];
  const parser = new SaxesParser();
  const path: string[] = [];
  let text = '';
  let children = new Map<string, string>();
  let last = '';
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text += `<${name}>`;
    last = '';
    if (path.length === 2) {
      text = '';
      children = new Map();
    }
  });
  const onText = (found: string) => {
    last += found;
    text += found.trim() === '' ? '' : found;
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', ({ name }) => {
    text += `</${name}>`;
    if (path.length === 3 && !children.has(name)) children.set(name, last);
    if (path.length === 2) {
      const own = children;
      elements.push({ tag: name, text: `<${name}>${text}`, child: (tag) => own.get(tag) });
    }
    path.pop();
    last = '';
  });
  parser.write(content).close();
  return elements;
}
