import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import { zipContent, zipDefect, zipEntries, type ZipLimits } from '../../kernel/shared/zip-entries.ts';
import { FormatError } from './imported.ts';

const MB = 1024 * 1024;
const LIMITS: ZipLimits = { entries: 20_000, entryBytes: 16 * MB, unpackedBytes: 128 * MB };

/** A folder of WireMock. */
export interface WireMockFolder {
  /** In the order of their paths, which begin behind what is around the folder. */
  mappings: { path: string; content: string }[];
  /** By their paths below `__files`. */
  files: ReadonlyMap<string, Buffer>;
}

const MAPPING = /^((?:.*\/)?)mappings\/.*\.json$/;

/**
 * Reads `mappings/` and `__files/` of a zip, also within other folders; what else is there is left alone.
 * Throws `FormatError` and `ZipDefect`.
 */
export async function readWireMockArchive(bytes: Buffer): Promise<WireMockFolder> {
  const zip = await fromBufferPromise(bytes).catch((error: unknown) => {
    throw zipDefect(error);
  });
  const entries = (await zipEntries(zip, LIMITS)).filter(({ fileName }) => !fileName.startsWith('__MACOSX/'));
  const root = rootOf(entries);
  const below = (folder: string) =>
    entries
      .filter(({ fileName }) => fileName.startsWith(`${root}${folder}/`))
      .toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1));
  const mappings: WireMockFolder['mappings'] = [];
  for (const entry of below('mappings'))
    if (entry.fileName.endsWith('.json'))
      mappings.push({ path: entry.fileName.slice(root.length), content: (await read(zip, entry)).toString('utf8') });
  const files = new Map<string, Buffer>();
  for (const entry of below('__files'))
    files.set(entry.fileName.slice(`${root}__files/`.length), await read(zip, entry));
  return { mappings, files };
}

/** What stands before the one folder `mappings` that is not within another. */
function rootOf(entries: readonly Entry[]): string {
  const roots = new Set(entries.flatMap(({ fileName }) => MAPPING.exec(fileName)?.[1] ?? []));
  const [root, second] = [...roots].filter((one) => ![...roots].some((other) => isAround(other, one)));
  if (root === undefined) throw new FormatError('The archive has no folder mappings with JSON files');
  if (second !== undefined)
    throw new FormatError(`The archive has several folders mappings: in ${shown(root)} and in ${shown(second)}`);
  return root;
}

const isAround = (outer: string, inner: string): boolean => inner.startsWith(`${outer}mappings/`);
const shown = (folder: string): string => JSON.stringify(folder.slice(0, 100));

async function read(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of zipContent(zip, entry)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
