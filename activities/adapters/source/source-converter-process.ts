import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type * as Sdr from '@salesforce/source-deploy-retrieve';
import type {
  ConversionOrder,
  ReadTree,
  Side,
  SourceTree,
  SourceUnit,
} from '../../../domain/delivery/source/source-converter.port.ts';
import type { ComponentName, StaticReplacement } from '../../../domain/delivery/source/source-build.port.ts';
import { ignore, inRepository, ROOT, sdr, warnings } from './converter-library.ts';
import { matchesPattern } from '../../../domain/kernel/text/pattern-rules.ts';
import { ListedTree } from './listed-tree.ts';

/**
 * A process that reads and converts the source of one repository: its arguments are its folders for files, orders and
 * answers. It is told the number of an order on its standard input, and says it again when the answer is written.
 */

export type ConverterOrder =
  | { read: Side; tree: SourceTree }
  | { inner: Side; units: number[] }
  | { convert: ConversionOrder; maxBytes: number };

export type ConverterAnswer = { isOk: true; value: unknown } | { isOk: false; reason: string };

const [headFolder = '', baseFolder = '', orders = '', answers = ''] = process.argv.slice(2);
const FOLDERS: Record<Side, string> = { head: headFolder, base: baseFolder };
const OUTPUT = 'package';
const FOLDER_TYPES = new Set(['DashboardFolder', 'ReportFolder', 'EmailTemplateFolder']);
/** What the library ignores beside what the repository lists. */
const ALWAYS_IGNORED = ['**/*.dup', '**/.*', '**/package2-descriptor.json', '**/package2-manifest.json'];

interface ReadSide {
  registry: Sdr.RegistryAccess;
  tree: ListedTree;
  /** By the ids of their units. */
  components: Sdr.SourceComponent[];
}
const sides = new Map<Side, ReadSide>();

function sideOf(side: Side): ReadSide {
  const found = sides.get(side);
  if (!found) throw new Error(`The ${side} was not read`);
  return found;
}

function read(side: Side, { files, directories, projectFile, ignored, ignoredPaths }: SourceTree): ReadTree {
  writeFileSync(join(FOLDERS[side], 'sfdx-project.json'), projectFile);
  const registry = new sdr.RegistryAccess(undefined, FOLDERS[side]);
  const ignores = ignore().add(ALWAYS_IGNORED).add(ignored);
  const source = files.filter(
    (file) => !ignores.ignores(file) && !ignoredPaths.some((pattern) => matchesPattern(pattern, file)),
  );
  const tree = new ListedTree(FOLDERS[side], source);
  const resolver = new sdr.MetadataResolver(registry, tree, false);
  const components: Sdr.SourceComponent[] = [];
  const units: SourceUnit[] = [];
  const loose = new Set(source);
  const known = new Set<string>();
  for (const path of directories) {
    const at = path === '' ? ROOT : `${ROOT}/${path}`;
    if (!tree.exists(at)) continue;
    for (const { component, parts } of resolver.getComponentsFromPath(at).flatMap(withParts)) {
      const unit = unitOf({ component, parts }, registry, units.length);
      for (const file of unit.files) loose.delete(file);
      // One directory may be within another.
      const key = [unit.type, unit.fullName, ...unit.files].join('\0');
      if (known.has(key)) continue;
      known.add(key);
      components.push(component);
      units.push(unit);
    }
  }
  sides.set(side, { registry, tree, components });
  return { units, loose: [...loose] };
}

interface Found {
  component: Sdr.SourceComponent;
  /** What it is made of by files of their own. */
  parts: Sdr.SourceComponent[];
}

/** A component, and those of its parts that can be deployed alone. */
function withParts(component: Sdr.SourceComponent): Found[] {
  const isDecomposed = component.type.strategies?.adapter === 'decomposed' && component.content !== undefined;
  const parts = isDecomposed ? component.getChildren() : [];
  const alone = parts.filter(({ isAddressable }) => isAddressable);
  return [{ component, parts }, ...alone.map((part) => ({ component: part, parts: [] }))];
}

function unitOf({ component, parts }: Found, registry: Sdr.RegistryAccess, id: number): SourceUnit {
  const { type, parent, xml, content } = component;
  const isDecomposed = type.strategies?.adapter === 'decomposed';
  const inner = isDecomposed ? [] : Object.values(type.children?.types ?? {});
  const own = isDecomposed
    ? parts.filter(({ isAddressable }) => !isAddressable).map((part) => part.xml)
    : component.walkContent();
  const paths = (found: readonly (string | undefined)[]) =>
    found.filter((path) => path !== undefined).map((path) => path.slice(ROOT.length + 1));
  const files = [...new Set(paths([xml, ...own]))];
  return {
    id,
    ...manifestName(registry, type, component.fullName),
    path: (isDecomposed ? undefined : paths([content])[0]) ?? files[0] ?? '',
    files,
    needs: paths([...parts.map((part) => part.xml), parent?.xml]),
    parent: parent ? manifestName(registry, parent.type, parent.fullName) : null,
    innerTypes: inner.filter(({ xmlElementName }) => xmlElementName !== undefined).map(({ name }) => name),
    isMerged: isDecomposed || parent !== undefined || type.strategies?.recomposition === 'startEmpty',
  };
}

/** As the library writes it into `package.xml`. */
function manifestName(registry: Sdr.RegistryAccess, type: Sdr.MetadataType, fullName: string): ComponentName {
  const named = type.folderContentType === undefined ? type : registry.getTypeByName(type.folderContentType);
  const isLabel = registry.getParentType(type.name)?.strategies?.recomposition === 'startEmpty';
  const name = isLabel ? fullName.slice(fullName.indexOf('.') + 1) : fullName;
  return { type: named.name, fullName: FOLDER_TYPES.has(type.name) && !name.endsWith('/') ? `${name}/` : name };
}

function innerOf(side: Side, units: readonly number[]): ComponentName[] {
  const { registry, components } = sideOf(side);
  return units
    .flatMap((unit) => components[unit]?.getChildren() ?? [])
    .map((child) => manifestName(registry, child.type, child.fullName));
}

async function convert(
  { units, deletions, replacements, apiVersion }: ConversionOrder,
  maxBytes: number,
): Promise<string[]> {
  const { registry, tree, components } = sideOf('head');
  tree.beginOutput(replacements, maxBytes);
  const set = new sdr.ComponentSet(
    units.flatMap((unit) => components[unit] ?? []),
    registry,
  );
  set.sourceApiVersion = apiVersion;
  for (const { type, fullName } of deletions) {
    const gone = new sdr.SourceComponent({ type: registry.getTypeByName(type), name: fullName });
    set.add(gone, sdr.DestructiveChangesType.POST);
  }
  // It is looked for in all folders above, where nothing may be read.
  writeFileSync(join(answers, '.forceignore'), '');
  await new sdr.MetadataConverter(registry).convert(set, 'metadata', {
    type: 'directory',
    outputDirectory: join(answers, OUTPUT),
    genUniqueDir: false,
  });
  return [...warnings, ...tree.unmadeReplacements().map(unmade)];
}

const unmade = ({ find }: StaticReplacement): string =>
  `Nothing that is deployed has ${JSON.stringify(find.length > 60 ? `${find.slice(0, 60)}…` : find)}, which the environment replaces`;

async function execute(order: ConverterOrder): Promise<unknown> {
  if ('read' in order) return read(order.read, order.tree);
  if ('inner' in order) return innerOf(order.inner, order.units);
  return convert(order.convert, order.maxBytes);
}

for await (const number of createInterface({ input: process.stdin })) {
  const order = JSON.parse(readFileSync(join(orders, `${number}.json`), 'utf8')) as ConverterOrder;
  const answer: ConverterAnswer = await execute(order).then(
    (value) => ({ isOk: true, value }),
    (error: Error) => ({ isOk: false, reason: inRepository(error.message).slice(0, 500) }),
  );
  writeFileSync(join(answers, `${number}.json`), JSON.stringify(answer));
  process.stdout.write(`${number}\n`);
  if ('convert' in order) break;
}
process.stdin.destroy();
