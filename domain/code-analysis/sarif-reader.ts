import { DomainError, escapePointer } from '../shared/errors.ts';
import { type JsonHooks, JsonRefused, JsonStream } from './json-stream.ts';
import type { JsonPath, SarifResult, SarifRun } from './sarif-rules.ts';
import { sarifChecks } from './sarif-schema.ts';

/** What one file may have. */
export const SARIF_LIMITS = {
  levels: 100,
  runs: 20,
  resultsOfRun: 25_000,
  rulesOfRun: 25_000,
  locationsOfResult: 1_000,
  resultBytes: 1024 * 1024,
  /** Members and elements outside results, whose number bounds the memory. */
  values: 1_000_000,
  tokenBytes: 16 * 1024 * 1024,
} as const;

/** A run that was read whole and is valid. */
export type OnRun = (run: SarifRun, results: SarifResult[], index: number) => void;

const NOTHING = new Uint8Array(0);

/** The member of a body that holds the log. */
const LOG = 'sarif';

const refused = (path: JsonPath, detail: string): DomainError => {
  const pointer = [LOG, ...path.map((segment) => escapePointer(String(segment)))].join('/');
  return new DomainError('unprocessable', `The SARIF log is refused at ${pointer}: ${detail}`, {
    fields: [{ pointer, detail }],
  });
};

/** Of a result what is used, without the text around it that would keep the whole alive. */
function slim(result: SarifResult): SarifResult {
  const { ruleId, ruleIndex, rule, kind, level, message, locations, suppressions, baselineState } = result;
  const place = locations?.[0]?.physicalLocation;
  const hash = result.partialFingerprints?.primaryLocationLineHash;
  return {
    message,
    ...(ruleId !== undefined && { ruleId }),
    ...(ruleIndex !== undefined && { ruleIndex }),
    ...(rule && { rule }),
    ...(kind !== undefined && { kind }),
    ...(level !== undefined && { level }),
    ...(place && {
      locations: [
        {
          physicalLocation: {
            ...(place.artifactLocation && { artifactLocation: place.artifactLocation }),
            ...(place.region?.startLine !== undefined && { region: { startLine: place.region.startLine } }),
          },
        },
      ],
    }),
    ...(suppressions && { suppressions: suppressions.map(({ status }) => (status === undefined ? {} : { status })) }),
    ...(baselineState !== undefined && { baselineState }),
    ...(hash !== undefined && { partialFingerprints: { primaryLocationLineHash: hash } }),
    ...(result.provenance && { provenance: result.provenance }),
  };
}

const rulesOf = ({ tool }: SarifRun): number =>
  [tool.driver, ...(tool.extensions ?? [])].reduce((sum, { rules = [] }) => sum + rules.length, 0);

/** Checks a log as it is read, and hands on its runs. */
class LogHooks implements JsonHooks {
  readonly levels: number;
  /** Where the log begins and ends in the text. */
  start: number | undefined;
  end: number | undefined;
  /** Where the result begins that is being read. */
  resultStart: number | undefined;
  readonly #root: number;
  readonly #onRun: OnRun;
  #results: SarifResult[] = [];

  /** @param root levels around the log. */
  constructor(root: number, onRun: OnRun) {
    this.#root = root;
    this.#onRun = onRun;
    this.levels = root + 4;
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
    this.#results.push(slim(result));
  }

  #closeRun(index: number, run: SarifRun): void {
    const path = ['runs', index];
    this.#check(path, sarifChecks().run(run));
    if (rulesOf(run) > SARIF_LIMITS.rulesOfRun)
      throw refused([...path, 'tool'], `more than ${SARIF_LIMITS.rulesOfRun} rules`);
    this.#onRun(run, this.#results, index);
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

  constructor(onRun: OnRun, { isInBody }: { isInBody: boolean }) {
    this.#isInBody = isInBody;
    this.#hooks = new LogHooks(isInBody ? 1 : 0, onRun);
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

  /** The text is complete. What it holds, except for the runs of the log. */
  end(): unknown {
    return this.#guarded(() => this.#json.end());
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof JsonRefused)) throw error;
      if (!this.#isInBody) throw refused(error.isMalformed ? [] : error.path, error.message);
      if (error.path[0] === LOG && !error.isMalformed) throw refused(error.path.slice(1), error.message);
      throw error;
    }
  }
}
