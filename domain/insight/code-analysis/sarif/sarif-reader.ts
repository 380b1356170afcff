import { DomainError, escapePointer } from '../../../kernel/shared/errors.ts';
import { type JsonHooks, JsonRefused, JsonStream } from './json-stream.ts';
import type { JsonPath, SarifResult, SarifRun } from './sarif-rules.ts';
import { slimResult } from './slim-result-rules.ts';
import { sarifChecks } from './sarif-schema.ts';

/** What one file may have. */
export const SARIF_LIMITS = {
  levels: 100,
  runs: 20,
  resultsOfRun: 25_000,
  rulesOfRun: 25_000,
  locationsOfResult: 1_000,
  extensionsOfRun: 100,
  basesOfRun: 100,
  resultBytes: 1024 * 1024,
  /** Members and elements outside results, whose number bounds the memory. */
  values: 1_000_000,
  tokenBytes: 16 * 1024 * 1024,
} as const;

/** A run that was read whole and is valid; of its results what is used. */
export interface ReadRun {
  run: SarifRun;
  results: SarifResult[];
}

export interface ReaderOptions {
  /** The log is the member `sarif` of a body. */
  isInBody: boolean;
  /** Counting needs no messages. */
  keepsMessages: boolean;
}

const NOTHING = new Uint8Array(0);

/** The member of a body that holds the log. */
const LOG = 'sarif';

const refused = (path: JsonPath, detail: string): DomainError => {
  const pointer = [LOG, ...path.map((segment) => escapePointer(String(segment)))].join('/');
  return new DomainError('unprocessable', `The SARIF log is refused at ${pointer}: ${detail}`, {
    fields: [{ pointer, detail }],
  });
};

/** What a run has more of than it may. */
function exceededOf({ tool, originalUriBaseIds = {} }: SarifRun): { at: string; detail: string } | undefined {
  const { driver, extensions = [] } = tool;
  const rules = [driver, ...extensions].reduce((sum, component) => sum + (component.rules?.length ?? 0), 0);
  const { rulesOfRun, extensionsOfRun, basesOfRun } = SARIF_LIMITS;
  if (rules > rulesOfRun) return { at: 'tool', detail: `more than ${rulesOfRun} rules` };
  if (extensions.length > extensionsOfRun) return { at: 'tool', detail: `more than ${extensionsOfRun} extensions` };
  if (Object.keys(originalUriBaseIds).length > basesOfRun)
    return { at: 'originalUriBaseIds', detail: `more than ${basesOfRun} bases` };
  return undefined;
}

/** Checks a log as it is read, and keeps its runs until they are taken. */
class LogHooks implements JsonHooks {
  readonly levels: number;
  /** Where the log begins and ends in the text. */
  start: number | undefined;
  end: number | undefined;
  /** Where the result begins that is being read. */
  resultStart: number | undefined;
  readonly #root: number;
  readonly #keepsMessages: boolean;
  #results: SarifResult[] = [];
  readonly runs: ReadRun[] = [];

  constructor({ isInBody, keepsMessages }: ReaderOptions) {
    this.#root = isInBody ? 1 : 0;
    this.#keepsMessages = keepsMessages;
    this.levels = this.#root + 4;
  }

  opened(path: JsonPath, offset: number): void {
    if (!this.#isInLog(path)) return;
    const [members, index, list, place] = path.slice(this.#root);
    switch (path.length - this.#root) {
      case 0:
        this.start = offset;
        return;
      case 2:
        if (members !== 'runs') return;
        if ((index as number) >= SARIF_LIMITS.runs) throw refused(['runs'], `more than ${SARIF_LIMITS.runs} runs`);
        this.#results = [];
        return;
      case 4:
        if (members !== 'runs' || list !== 'results') return;
        this.resultStart = offset;
        if ((place as number) >= SARIF_LIMITS.resultsOfRun)
          throw refused(['runs', index ?? 0, 'results'], `more than ${SARIF_LIMITS.resultsOfRun} results`);
    }
  }

  closed(path: JsonPath, value: unknown, offset: number): boolean {
    if (!this.#isInLog(path)) return true;
    const [members, index, list] = path.slice(this.#root);
    switch (path.length - this.#root) {
      case 0:
        // A log that is packed into a string is read by itself.
        if (typeof value !== 'object' && this.#root > 0) return true;
        this.end = offset + 1;
        this.#check([], sarifChecks().log(value));
        return true;
      case 1:
        if (members === 'version' && value !== '2.1.0') throw refused(['version'], 'must be 2.1.0');
        return true;
      case 2:
        if (members !== 'runs' || typeof index !== 'number') return true;
        this.#closeRun(index, value as SarifRun);
        return false;
      case 4:
        if (members !== 'runs' || list !== 'results') return true;
        this.#closeResult(path.slice(this.#root), value as SarifResult, offset);
        return false;
    }
    return true;
  }

  /** Throws when the result that is being read is too large already. */
  assertResultSize(received: number): void {
    if (this.resultStart !== undefined && received - this.resultStart > SARIF_LIMITS.resultBytes)
      throw refused(['runs'], `a result is larger than ${SARIF_LIMITS.resultBytes} bytes`);
  }

  #isInLog = (path: JsonPath): boolean => this.#root === 0 || path[0] === LOG;

  #check(path: JsonPath, problem: { path: string[]; detail: string } | undefined): void {
    if (problem) throw refused([...path, ...problem.path], problem.detail);
  }

  #closeResult(path: JsonPath, result: SarifResult, offset: number): void {
    this.#check(path, sarifChecks().result(result));
    const { locations = [] } = result;
    if (locations.length > SARIF_LIMITS.locationsOfResult)
      throw refused([...path, 'locations'], `more than ${SARIF_LIMITS.locationsOfResult} locations`);
    this.assertResultSize(offset);
    this.resultStart = undefined;
    this.#results.push(slimResult(result, { keepsMessages: this.#keepsMessages }));
  }

  #closeRun(index: number, run: SarifRun): void {
    const path = ['runs', index];
    this.#check(path, sarifChecks().run(run));
    const exceeded = exceededOf(run);
    if (exceeded) throw refused([...path, exceeded.at], exceeded.detail);
    this.runs.push({ run, results: this.#results });
    this.#results = [];
  }
}

/**
 * Reads a SARIF log, alone or as the member `sarif` of a body, while it arrives: each result is checked by itself, each
 * run without its results, and the rest at the end. Throws `unprocessable` with a pointer for what is wrong with the
 * log, and `JsonRefused` for what is wrong around it.
 */
export class SarifReader {
  readonly #hooks: LogHooks;
  readonly #json: JsonStream;
  readonly #isInBody: boolean;

  constructor(options: ReaderOptions) {
    this.#isInBody = options.isInBody;
    this.#hooks = new LogHooks(options);
    this.#json = new JsonStream(this.#hooks, SARIF_LIMITS);
  }

  /** Reads the next bytes; answers those of them that belong to the log. */
  write(given: Uint8Array): Uint8Array {
    const before = this.#json.received;
    const bytes = this.#guarded(() => this.#json.write(given));
    const { start, end = Infinity } = this.#hooks;
    if (end === Infinity) this.#hooks.assertResultSize(this.#json.received);
    if (start === undefined || end <= before) return NOTHING;
    return bytes.subarray(Math.max(0, start - before), Math.min(bytes.byteLength, end - before));
  }

  /** The runs that were read whole since they were last taken. */
  takeRuns(): ReadRun[] {
    return this.#hooks.runs.splice(0);
  }

  /** The text is complete. What it holds, except for the runs of the log. */
  end(): unknown {
    return this.#guarded(() => this.#json.end());
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof JsonRefused) || error.isTooLarge) throw error;
      if (!this.#isInBody) throw refused(error.isMalformed ? [] : error.path, error.message);
      if (error.path[0] === LOG && !error.isMalformed) throw refused(error.path.slice(1), error.message);
      throw error;
    }
  }
}
