import { type ChildProcess, fork } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  AnalysisOutcome,
  AnalysisPlace,
  CodeAnalyzer,
} from '../../../domain/insight/code-analysis/jobs/code-analyzer.port.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { newId } from '../../../domain/kernel/shared/ids.ts';
import type { EndedAnalyzer, HostOrder, HostReport } from './analysis-host.ts';
import { isolatedBy, packagesAbove } from './analyzer-isolation.ts';
import { signalGroup } from '../programs/process-group.ts';
import type { AnalyzerReport } from './salesforce-analyzer-process.ts';

const HOST = fileURLToPath(new URL('./analysis-host.ts', import.meta.url));
const PROCESS = fileURLToPath(new URL('./salesforce-analyzer-process.ts', import.meta.url));
const PACKAGE_JSON = fileURLToPath(new URL('../../../package.json', import.meta.url));

const NEEDED = '@salesforce/code-analyzer-core';
const ENGINES = ['eslint', 'regex', 'retirejs'].map((engine) => `@salesforce/code-analyzer-${engine}-engine`);
const NOT_INSTALLED = `Salesforce Code Analyzer is not installed on this worker: install its packages with \`npm install --no-save ${[NEEDED, ...ENGINES].join(' ')}\`, or have a pipeline or a command execute \`analyze\``;

const TIMEOUT_MS = 15 * 60_000;
/** No analysis and its checkout take so long: a folder of this age was left by a machine that stopped. */
const STALE_MS = 2 * 3_600_000;

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
      await mkdir(folder, { recursive: true });
      await removeStale(folder);
      return Place.open({ folder: join(folder, newId()), node }, ({ files, scratch, results }) => ({
        command: [node, `--max-old-space-size=${heapMb}`, program, files, results, packagesFrom],
        readable: [node, program, packagesFrom, ...packagesAbove(program), ...packagesAbove(packagesFrom)],
        cwd: scratch,
        env: {
          PATH: `${dirname(node)}:${process.env.PATH ?? '/usr/bin:/bin'}`,
          HOME: scratch,
          TMPDIR: scratch,
          LC_ALL: 'C.UTF-8',
        },
        timeoutMs,
      }));
    },
  };
}

type Folders = Record<'files' | 'scratch' | 'results', string>;
type PlannedRun = Omit<Extract<HostOrder, { run: unknown }>['run'], 'program' | 'args'> & {
  command: string[];
  readable: string[];
};

class Place implements AnalysisPlace {
  readonly folder: string;
  readonly #whole: string;
  readonly #folders: Folders;
  readonly #host: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #plan: PlannedRun;
  /** Process group of the analyzer while it runs; undefined before and after. */
  #group: number | undefined;

  private constructor(whole: string, folders: Folders, host: ChildProcess, plan: PlannedRun) {
    this.#whole = whole;
    this.folder = folders.files;
    this.#folders = folders;
    this.#host = host;
    this.#plan = plan;
    host.on('message', (report: HostReport) => {
      if ('startedGroup' in report) this.#group = report.startedGroup;
      else this.#group = undefined;
    });
    this.#ended = new Promise((resolve) => {
      host.once('exit', () => resolve());
      // One that could not be started ends without an exit.
      host.on('error', () => {
        if (host.pid === undefined) resolve();
      });
    });
    void this.#ended.then(() => this.#killGroup());
  }

  static async open(
    { folder, node }: { folder: string; node: string },
    planned: (folders: Folders) => PlannedRun,
  ): Promise<Place> {
    const folders = {
      files: join(folder, 'files'),
      scratch: join(folder, 'scratch'),
      results: join(folder, 'results'),
    };
    const host = fork(HOST, [], {
      detached: true,
      execArgv: [],
      execPath: node,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    });
    const place = new Place(folder, folders, host, planned(folders));
    if (await place.#ask({ open: { folder, subfolders: Object.values(folders) } })) return place;
    await place.close();
    throw new DomainError('unavailable', 'A process or folder for the analysis could not be made');
  }

  async analyze(signal: AbortSignal): Promise<AnalysisOutcome> {
    const startedAt = performance.now();
    const { command, readable, ...plan } = this.#plan;
    const apart = await isolatedBy({ folder: this.#whole, readable });
    const [program = '', ...args] = [...apart, ...command];
    const stop = () => this.#disconnect();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const report = await this.#ask({ run: { ...plan, program, args } }).finally(() =>
      signal.removeEventListener('abort', stop),
    );
    signal.throwIfAborted();
    if (!report || !('ended' in report)) return { isOk: false, reason: 'The analyzer was killed' };
    const reason = this.#whyFailed(report.ended);
    if (reason !== undefined) return { isOk: false, reason };
    const { results } = this.#folders;
    const found = JSON.parse(await readFile(join(results, 'report.json'), 'utf8')) as AnalyzerReport;
    return {
      isOk: true,
      sarif: () => createReadStream(join(results, 'result.sarif')),
      ...found,
      isOffline: apart.length > 0,
      durationMs: Math.round(performance.now() - startedAt),
    };
  }

  /** Kills what still runs and removes the folder; resolves when both is done. */
  async close(): Promise<void> {
    this.#disconnect();
    await this.#ended;
    // The host does so, too, unless it was killed.
    await rm(this.#whole, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #killGroup(): void {
    if (this.#group !== undefined) signalGroup(this.#group, 'SIGKILL');
    this.#group = undefined;
  }

  #disconnect(): void {
    if (this.#host.connected) this.#host.disconnect();
  }

  /** The answer of the host; undefined when it has ended. */
  #ask(order: HostOrder): Promise<HostReport | undefined> {
    if (!this.#host.connected) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const listen = (report: HostReport) => {
        if ('startedGroup' in report) return;
        this.#host.off('message', listen);
        resolve(report);
      };
      this.#host.on('message', listen);
      void this.#ended.then(() => resolve(undefined));
      this.#host.send(order, (error) => {
        if (error) resolve(undefined);
      });
    });
  }

  #whyFailed({ why, exitCode, tail }: EndedAnalyzer): string | undefined {
    if (why === 'timed_out') return `The analyzer did not end within ${this.#plan.timeoutMs / 1_000} s`;
    if (why === 'not_started') return 'The analyzer could not be started';
    if (exitCode === 0) return undefined;
    if (/heap out of memory/i.test(tail)) return 'The analyzer ran out of memory (ANALYSIS_HEAP_MB)';
    // As shells and namespaces report a signal.
    const end = exitCode === null || exitCode > 128 ? 'was killed' : `ended with exit code ${exitCode}`;
    const line = /^(?:\w*Error: )(.*)$/m.exec(tail)?.[1];
    return line === undefined ? `The analyzer ${end}` : `The analyzer ${end}: ${withoutPaths(line)}`;
  }
}

const withoutPaths = (text: string): string => text.replaceAll(/(\/[^\s'",:/]+){2,}/g, '…').slice(0, 300);

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > STALE_MS) await rm(path, { recursive: true, force: true });
  }
}
