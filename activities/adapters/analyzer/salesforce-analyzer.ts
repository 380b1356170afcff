import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  AnalysisOutcome,
  AnalysisPlace,
  CodeAnalyzer,
} from '../../../domain/insight/code-analysis/jobs/code-analyzer.port.ts';
import { closedEnvironment, IsolatedPlace, type IsolatedProgram, whyFailed } from '../isolated/isolated-place.ts';
import { packagesAbove } from '../isolated/isolation.ts';
import type { AnalyzerReport } from './salesforce-analyzer-process.ts';

const PROCESS = fileURLToPath(new URL('./salesforce-analyzer-process.ts', import.meta.url));
const PACKAGE_JSON = fileURLToPath(new URL('../../../package.json', import.meta.url));

const NEEDED = '@salesforce/code-analyzer-core';
const ENGINES = ['eslint', 'regex', 'retirejs'].map((engine) => `@salesforce/code-analyzer-${engine}-engine`);
const NOT_INSTALLED = `Salesforce Code Analyzer is not installed on this worker: install its packages with \`npm install --no-save ${[NEEDED, ...ENGINES].join(' ')}\`, or have a pipeline or a command execute \`analyze\``;

const TIMEOUT_MS = 15 * 60_000;

export interface SalesforceAnalyzerOptions {
  /** Holds a folder for each analysis that is under way. */
  folder: string;
  /** Heap of the analyzer, in MB. */
  heapMb: number;
  timeoutMs?: number;
  /** A file beside which the packages of the analyzer are looked up. */
  packagesFrom?: string;
  /** What node runs as the analyzer. */
  program?: string;
  node?: string;
}

/**
 * Salesforce Code Analyzer, whose packages are optional. It runs as a process group of its own with a closed environment
 * and, where the system permits that, without a network, other processes and files that it does not need.
 */
export function createSalesforceAnalyzer({
  folder,
  heapMb,
  timeoutMs = TIMEOUT_MS,
  packagesFrom = PACKAGE_JSON,
  program = PROCESS,
  node = process.execPath,
}: SalesforceAnalyzerOptions): CodeAnalyzer {
  const isInstalled = () => {
    try {
      createRequire(packagesFrom).resolve(NEEDED);
      return true;
    } catch {
      return false;
    }
  };
  return {
    name: 'Salesforce Code Analyzer',
    whyUnavailable: () => (isInstalled() ? undefined : NOT_INSTALLED),
    async open() {
      const place = await IsolatedPlace.open({ folder, subfolders: ['files', 'scratch', 'results'], node });
      const { files, scratch, results } = place.folders;
      return new Analysis(place, {
        command: [node, `--max-old-space-size=${heapMb}`, program, files, results, packagesFrom],
        readable: [node, program, packagesFrom, ...packagesAbove(program), ...packagesAbove(packagesFrom)],
        cwd: scratch,
        env: closedEnvironment(node, scratch),
        timeoutMs,
      });
    },
  };
}

type Place = IsolatedPlace<'files' | 'scratch' | 'results'>;

class Analysis implements AnalysisPlace {
  readonly folder: string;
  readonly close: () => Promise<void>;
  readonly #place: Place;
  readonly #program: IsolatedProgram;

  constructor(place: Place, program: IsolatedProgram) {
    this.folder = place.folders.files;
    this.close = () => place.close();
    this.#place = place;
    this.#program = program;
  }

  async analyze(signal: AbortSignal): Promise<AnalysisOutcome> {
    const startedAt = performance.now();
    const ended = await this.#place.run(this.#program, signal);
    if (!ended) return { isOk: false, reason: 'The analyzer was killed' };
    const reason = whyFailed('The analyzer', ended, { ...this.#program, setting: 'ANALYSIS_HEAP_MB' });
    if (reason !== undefined) return { isOk: false, reason };
    const { results } = this.#place.folders;
    const found = JSON.parse(await readFile(join(results, 'report.json'), 'utf8')) as AnalyzerReport;
    return {
      isOk: true,
      sarif: () => createReadStream(join(results, 'result.sarif')),
      ...found,
      isOffline: ended.isApart,
      durationMs: Math.round(performance.now() - startedAt),
    };
  }
}
