import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';
import type * as Core from '@salesforce/code-analyzer-core';

/**
 * A process that analyses one folder with Salesforce Code Analyzer: its arguments are the folder, the folder for results,
 * and where the packages are looked up. No file of configuration is read, be it of the folder or of the machine.
 */

/** Beside `result.sarif`. */
export interface AnalyzerReport {
  engines: { name: string; version: string }[];
  notes: string[];
}

interface SarifRun {
  tool: { driver: { name: string; version?: string; semanticVersion?: string } };
  results: { ruleId?: string; message: { text?: string } }[];
  properties?: Record<string, unknown>;
  invocations: { executionSuccessful: boolean; workingDirectory?: unknown; toolExecutionNotifications?: unknown[] }[];
}

const ENGINES = ['regex', 'eslint', 'retire-js', 'pmd'] as const;
const PACKAGES: Record<(typeof ENGINES)[number], string> = {
  regex: '@salesforce/code-analyzer-regex-engine',
  eslint: '@salesforce/code-analyzer-eslint-engine',
  'retire-js': '@salesforce/code-analyzer-retirejs-engine',
  pmd: '@salesforce/code-analyzer-pmd-engine',
};
const WHAT_PMD_CHECKS = 'most rules for Apex and all for Visualforce were not checked';
/** What is stored takes no more. */
const RESULTS_MAX = 25_000;
const MACHINE_PATHS = /(\/[^\s'",:/]+){2,}/g;
const ENGINE_FAILURE = /^(Unexpected|Uninstantiable)EngineError$/;

const [workspaceFolder = '', resultFolder = '', packagesFrom = ''] = process.argv.slice(2);
const requireFrom = createRequire(packagesFrom);

type EnginePlugin = Parameters<Core.CodeAnalyzer['addEnginePlugin']>[0];

/** The plugin of an engine, or undefined when its package is not installed. */
function pluginOf(name: string): EnginePlugin | undefined {
  try {
    requireFrom.resolve(name);
  } catch {
    return undefined;
  }
  return (requireFrom(name) as { createEnginePlugin: () => EnginePlugin }).createEnginePlugin();
}

async function main(): Promise<void> {
  const { CodeAnalyzer, CodeAnalyzerConfig, EventType, LogLevel, OutputFormat } = requireFrom(
    '@salesforce/code-analyzer-core',
  ) as typeof Core;
  const analyzer = new CodeAnalyzer(CodeAnalyzerConfig.withDefaults());
  const notes: string[] = [];
  analyzer.onEvent<Core.LogEvent>(EventType.LogEvent, ({ logLevel, message }) => {
    if (logLevel <= LogLevel.Error) process.stderr.write(`${message}\n`);
  });
  for (const engine of ENGINES) {
    const plugin = pluginOf(PACKAGES[engine]);
    if (plugin) await analyzer.addEnginePlugin(plugin);
    else if (engine !== 'pmd') notes.push(`The engine ${engine} is not installed (${PACKAGES[engine]})`);
  }
  const workspace = await analyzer.createWorkspace([workspaceFolder]);
  const rules = await analyzer.selectRules(['Recommended'], { workspace });
  const results = await analyzer.run(rules, { workspace });
  if (!results.getEngineNames().includes('pmd'))
    notes.push(`PMD did not run, ${WHAT_PMD_CHECKS}: it needs ${PACKAGES.pmd} and Java 11 or later`);
  const sarif = JSON.parse(results.toFormattedOutput(OutputFormat.SARIF)) as { runs: SarifRun[] };
  // Engines that found nothing are left out by the analyzer.
  for (const name of results.getEngineNames()) {
    if (sarif.runs.some(({ tool }) => tool.driver.name === name)) continue;
    const semanticVersion = results.getEngineRunResults(name).getEngineVersion();
    const driver = { name, semanticVersion };
    sarif.runs.push({ tool: { driver }, results: [], invocations: [{ executionSuccessful: true }] });
  }
  for (const run of sarif.runs) notes.push(...corrected(run));
  const notifications = notes.map((text) => ({ level: 'warning', message: { text } }));
  const [first] = sarif.runs;
  if (first?.invocations[0]) first.invocations[0].toolExecutionNotifications = notifications;
  writeFileSync(join(resultFolder, 'result.sarif'), JSON.stringify(sarif));
  const engines = sarif.runs.map(({ tool: { driver } }) => ({ name: driver.name, version: driver.version ?? '' }));
  const report: AnalyzerReport = { engines, notes };
  writeFileSync(join(resultFolder, 'report.json'), JSON.stringify(report));
}

/**
 * Gives a run its version and paths relative to the folder, and takes failures of its engine for what they are: the
 * analyzer reports them as issues of a successful run. Returns what to note.
 */
function corrected(run: SarifRun): string[] {
  const { driver } = run.tool;
  const notes: string[] = [];
  if (driver.semanticVersion !== undefined) driver.version = driver.semanticVersion;
  const failures = run.results.filter(({ ruleId = '' }) => ENGINE_FAILURE.test(ruleId));
  for (const { message } of failures)
    notes.push(
      `${driver.name} failed: ${(message.text?.split('\n')[0] ?? '').replaceAll(MACHINE_PATHS, '…').slice(0, 500)}`,
    );
  run.results = run.results.filter((result) => !failures.includes(result));
  if (run.results.length > RESULTS_MAX) {
    notes.push(`${driver.name} found ${run.results.length} issues, of which the first ${RESULTS_MAX} are kept`);
    // As `domain/insight/code-analysis/sarif/cut-rules.ts` reads it, which this process cannot see.
    run.properties = { ...run.properties, 'quayside/resultsFound': run.results.length };
    run.results.length = RESULTS_MAX;
  }
  for (const invocation of run.invocations) {
    delete invocation.workingDirectory;
    if (failures.length > 0) invocation.executionSuccessful = false;
  }
  const stack: unknown[] = [run.results];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('uriBaseId' in value && 'uri' in value) {
      value.uri = relativeUri(String(value.uri), String(value.uriBaseId));
      value.uriBaseId = 'SRCROOT';
    }
    stack.push(...Object.values(value));
  }
  return notes;
}

/** The analyzer writes paths by `encodeURI`, relative to its working folder. */
const relativeUri = (uri: string, base: string): string =>
  relative(workspaceFolder, resolve(decodeURI(base), decodeURI(uri)))
    .split(sep)
    .map(encodeURIComponent)
    .join('/');

await main();
