import { lstat, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import type { ComponentName, SourceRefusal } from '../../../domain/delivery/source/source-build.port.ts';
import { UNZIPPED_MAX_BYTES } from '../../../domain/delivery/source/source-file-rules.ts';
import type {
  ConversionOrder,
  ConversionPlace,
  Converted,
  ConvertedFile,
  ReadTree,
  Side,
  SourceConverter,
  SourceTree,
} from '../../../domain/delivery/source/source-converter.port.ts';
import { closedEnvironment, IsolatedPlace, mayPass, whyFailed } from '../isolated/isolated-place.ts';
import { packagesAbove } from '../isolated/isolation.ts';
import type { ConverterAnswer, ConverterOrder } from './source-converter-process.ts';

const PROCESS = fileURLToPath(new URL('./source-converter-process.ts', import.meta.url));
/** What the process needs beside its own folder and packages. */
const PATTERNS = fileURLToPath(new URL('../../../domain/kernel/text/pattern-rules.ts', import.meta.url));
const NAME = 'The conversion of the source';
const TIMEOUT_MS = 10 * 60_000;
const HEAP_MB = 1_024;
const AT_ONCE = 2;
const LATE = Symbol('late');
const ANSWER_MAX_BYTES = 128 * 1024 * 1024;

export interface SourceConverterOptions {
  /** Holds a folder for each conversion that is under way. */
  folder: string;
  /** Heap of the process, in MB. */
  heapMb?: number;
  /** For all that the process is asked; what is done in between, such as fetching files, does not count. */
  timeoutMs?: number;
  /** The size that all files which it writes may have together. */
  outputMaxBytes?: number;
  /** Places that are open at the same time; others wait. */
  atOnce?: number;
  node?: string;
}

type Folders = IsolatedPlace<Side | 'orders' | 'answers' | 'scratch'>;

/** Converts by the vendor's library, in a process without network, environment and files of ours. */
export function createSourceConverter({
  folder,
  heapMb = HEAP_MB,
  timeoutMs = TIMEOUT_MS,
  outputMaxBytes = UNZIPPED_MAX_BYTES,
  atOnce = AT_ONCE,
  node = process.execPath,
}: SourceConverterOptions): SourceConverter {
  const turns = new Turns(atOnce);
  return {
    async open(signal) {
      const done = await turns.take(signal);
      try {
        const place: Folders = await IsolatedPlace.open({
          folder,
          subfolders: ['head', 'base', 'orders', 'answers', 'scratch'],
          node,
        });
        return new Conversion(place, { node, heapMb, timeoutMs, outputMaxBytes }, signal, done);
      } catch (error) {
        done();
        throw error;
      }
    },
  };
}

/** Hands out so many turns at a time, in the order in which they were asked for. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Answers what gives the turn back. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else
      await new Promise<void>((resolve, reject) => {
        const onAbort = () => {
          this.#waiting.splice(this.#waiting.indexOf(begin), 1);
          reject(signal.reason as Error);
        };
        const begin = () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        this.#waiting.push(begin);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    return () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    };
  }
}

const refused = (reason: string): SourceRefusal => ({ isOk: false, reason });

class Conversion implements ConversionPlace {
  readonly folders: Readonly<Record<Side, string>>;
  readonly #place: Folders;
  readonly #signal: AbortSignal;
  readonly #done: () => void;
  readonly #ended: ReturnType<Folders['run']>;
  readonly #timeoutMs: number;
  readonly #outputMaxBytes: number;
  #leftMs: number;
  #hear: (number: string) => void = () => undefined;
  #orders = 0;

  constructor(
    place: Folders,
    { node, heapMb, timeoutMs, outputMaxBytes }: Required<Omit<SourceConverterOptions, 'folder' | 'atOnce'>>,
    signal: AbortSignal,
    done: () => void,
  ) {
    this.folders = place.folders;
    this.#place = place;
    this.#signal = signal;
    this.#done = done;
    this.#timeoutMs = timeoutMs;
    this.#leftMs = timeoutMs;
    this.#outputMaxBytes = outputMaxBytes;
    const { head, base, orders, answers, scratch } = place.folders;
    const packages = packagesAbove(PROCESS);
    const allowed = [dirname(PROCESS), PATTERNS, ...packages, dirname(head)].map((path) => `--allow-fs-read=${path}`);
    const limits = ['--permission', ...allowed, `--allow-fs-write=${dirname(head)}`, `--max-old-space-size=${heapMb}`];
    this.#ended = place.run(
      {
        command: [node, '--disable-warning=ExperimentalWarning', ...limits, PROCESS, head, base, orders, answers],
        readable: [node, dirname(PROCESS), PATTERNS, ...packages],
        cwd: scratch,
        env: { ...closedEnvironment(node, scratch), SF_DISABLE_LOG_FILE: 'true', SF_DISABLE_TELEMETRY: 'true' },
        timeoutMs: undefined,
      },
      signal,
      (line) => this.#hear(line),
    );
    // Each order looks at it.
    this.#ended.catch(() => undefined);
  }

  read(side: Side, tree: SourceTree): Promise<Answer<ReadTree, SourceRefusal>> {
    return this.#ask({ read: side, tree });
  }

  inner(side: Side, units: number[]): Promise<Answer<ComponentName[], SourceRefusal>> {
    return this.#ask({ inner: side, units });
  }

  async convert(order: ConversionOrder): Promise<Answer<Converted, SourceRefusal>> {
    const warned = await this.#ask<string[]>({ convert: order, maxBytes: this.#outputMaxBytes });
    if (!warned.isOk) return warned;
    // What is read below changes no more.
    if ((await this.#inTime(this.#ended)) === LATE) return this.#late();
    const folder = join(this.#place.folders.answers, 'package');
    const files = await filesIn(folder);
    if (!files) return refused('The conversion wrote something that is no file');
    return { isOk: true, value: { files, warnings: warned.value } };
  }

  async close(): Promise<void> {
    await this.#place.close().finally(this.#done);
  }

  async #ask<Value>(order: ConverterOrder): Promise<Answer<Value, SourceRefusal>> {
    const { orders, answers } = this.#place.folders;
    const number = String(++this.#orders);
    await writeFile(join(orders, `${number}.json`), JSON.stringify(order)).catch((error: unknown) => {
      // With the signal goes the folder.
      this.#signal.throwIfAborted();
      throw error;
    });
    const said = new Promise<'said'>((resolve) => {
      this.#hear = (line) => {
        if (line === number) resolve('said');
      };
    });
    this.#place.tell(number);
    const heard = await this.#inTime(Promise.race([said, this.#ended]));
    this.#signal.throwIfAborted();
    if (heard === LATE) return this.#late();
    if (heard === undefined) throw new Error(`${NAME} was killed`);
    if (heard !== 'said') {
      const why = whyFailed(NAME, heard, { timeoutMs: undefined, setting: undefined }) ?? `${NAME} ended early`;
      if (mayPass(heard)) throw new Error(why);
      return refused(why);
    }
    const path = join(answers, `${number}.json`);
    const state = await lstat(path);
    if (!state.isFile() || state.size > ANSWER_MAX_BYTES) return refused(`${NAME} found too much to be listed`);
    const answer = JSON.parse(await readFile(path, 'utf8')) as ConverterAnswer;
    return answer.isOk ? { isOk: true, value: answer.value as Value } : answer;
  }

  /** What the process does, or `LATE` when its time is up: it is killed when the place is closed. */
  async #inTime<Value>(doing: Promise<Value>): Promise<Value | typeof LATE> {
    const since = performance.now();
    let clock: NodeJS.Timeout | undefined;
    const late = new Promise<typeof LATE>((resolve) => {
      clock = setTimeout(resolve, this.#leftMs, LATE);
    });
    try {
      return await Promise.race([doing, late]);
    } finally {
      clearTimeout(clock);
      this.#leftMs -= performance.now() - since;
    }
  }

  #late(): SourceRefusal {
    return refused(`${NAME} did not end within ${this.#timeoutMs / 1_000} s`);
  }
}

/** All files of a folder, the manifest first, then by name; undefined when something in it is no regular file. */
async function filesIn(folder: string): Promise<ConvertedFile[] | undefined> {
  const files: ConvertedFile[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) return undefined;
    const path = join(entry.parentPath, entry.name);
    files.push({ path, name: relative(folder, path).split(sep).join('/'), bytes: (await stat(path)).size });
  }
  const place = ({ name }: ConvertedFile) => (name === 'package.xml' ? '' : name);
  return files.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}
