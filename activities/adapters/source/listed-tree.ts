import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { StaticReplacement } from '../../../domain/delivery/source/source-build.port.ts';
import { matchesPattern } from '../../../domain/kernel/text/pattern-rules.ts';
import { ROOT, sdr, xml } from './converter-library.ts';

const XML_MAX_BYTES = 20_000_000;
/** Buffers are not in the heap whose size is bounded. The platform takes no zip with such a file. */
const FILE_MAX_BYTES = 50_000_000;

/** The files of a commit by their names; contents are on disk where they are needed. */
export class ListedTree extends sdr.TreeContainer {
  readonly #folder: string;
  readonly #files = new Set<string>();
  readonly #entries = new Map<string, Set<string>>();
  #replacements: readonly StaticReplacement[] = [];
  readonly #made = new Set<StaticReplacement>();
  #maxBytes = Number.POSITIVE_INFINITY;
  #bytes = 0;
  /** The library reads some files more than once. */
  readonly #counted = new Set<string>();

  constructor(folder: string, files: readonly string[]) {
    super();
    this.#folder = folder;
    for (const file of files) {
      this.#files.add(`${ROOT}/${file}`);
      for (let path = `${ROOT}/${file}`; path !== ROOT; ) {
        const above = dirname(path);
        const entries = this.#entries.get(above);
        if (entries) entries.add(path.slice(above.length + 1));
        else this.#entries.set(above, new Set([path.slice(above.length + 1)]));
        if (entries) break;
        path = above;
      }
    }
  }

  /** From now on files are read as they are deployed, and all of them may have so many bytes. */
  beginOutput(replacements: readonly StaticReplacement[], maxBytes: number): void {
    this.#replacements = replacements;
    this.#maxBytes = maxBytes;
    this.#bytes = 0;
    this.#counted.clear();
  }

  /** Replacements for which no file had the text. */
  unmadeReplacements(): StaticReplacement[] {
    return this.#replacements.filter((each) => !this.#made.has(each));
  }

  exists(path: string): boolean {
    return this.#files.has(path) || this.#entries.has(path);
  }

  isDirectory(path: string): boolean {
    if (!this.exists(path)) throw new Error(`There is no ${path}`);
    return this.#entries.has(path);
  }

  readDirectory(path: string): string[] {
    return [...(this.#entries.get(path) ?? [])];
  }

  /** For what is read to be understood. The library's parser takes XML that breaks off for whole. */
  readFileSync(path: string): Buffer {
    const content = this.#contentOf(path);
    if (path.endsWith('.xml')) assertXml(path, content.toString());
    return content;
  }

  #contentOf(path: string): Buffer {
    const content = this.#replacedContentOf(path);
    assertSize(path, content.length);
    if (this.#counted.has(path)) return content;
    this.#counted.add(path);
    this.#bytes += content.length;
    if (this.#bytes > this.#maxBytes)
      throw new Error(
        `The deployment would have more than ${this.#maxBytes / 1024 / 1024} MB: deploy fewer packages at a time`,
      );
    return content;
  }

  #replacedContentOf(path: string): Buffer {
    const name = path.slice(ROOT.length + 1);
    const file = join(this.#folder, name);
    assertSize(path, statSync(file).size);
    const content = readFileSync(file);
    const own = this.#replacements.filter(
      ({ files, find }) =>
        (files === undefined || files.some((pattern) => matchesPattern(pattern, name))) && content.includes(find),
    );
    // What is no text is left as it is.
    if (own.length === 0 || content.includes(0)) return content;
    for (const each of own) this.#made.add(each);
    return Buffer.from(
      own.reduce((text, { find, replaceWith }) => text.replaceAll(find, () => replaceWith), content.toString()),
    );
  }

  async readFile(path: string): Promise<Buffer> {
    return this.readFileSync(path);
  }

  stream(path: string): Readable {
    return Readable.from([this.#contentOf(path)]);
  }
}

function assertSize(path: string, bytes: number): void {
  const max = path.endsWith('.xml') ? XML_MAX_BYTES : FILE_MAX_BYTES;
  if (bytes > max) throw new Error(`${path} is larger than ${max / 1_000_000} MB`);
}

function assertXml(path: string, text: string): void {
  if (text.includes('<!DOCTYPE')) throw new Error(`${path} declares a document type, as no component does`);
  const valid = xml.validate(text);
  if (valid !== true) throw new Error(`${path} is no well-formed XML (line ${valid.err.line}): ${valid.err.msg}`);
}
