import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { counted, waitForHistory } from './changes.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { git, readRepository } from './repository.ts';
import { newTemporaryFolder } from './temporary-folders.ts';
import { waitFor } from './wait.ts';

const PREFIX = '/api/testreports/code-analysis';
const ANALYSIS_MS = 20 * 60_000;
const REPORT_MS = 60_000;
/** New samples of the store are seen after some seconds. */
const METRICS_MS = 30_000;
/** How many commits of the first-parent history lie between the newest commit and the one that it is compared with. */
const COMMITS_BACK = 100;
const SHOWN = 6;

interface Run {
  status: string;
  success: { error?: string } | null;
  result: { engines?: { name: string; version: string }[]; files?: number; durationMs?: number; notes?: string[] };
}
interface Envelope {
  status: string;
  jobId: string | null;
  message: string | null;
  data: { summary: Summary; gate: unknown } | null;
}
interface Summary {
  totalIssues: number;
  issuesByLevel: Record<string, number>;
  issuesByRule: { ruleId: string; level: string; count: number }[];
  filesAffected: number;
}
interface Issue {
  ruleId: string;
  level: string;
  path: string;
  startLine: number | null;
}
interface Comparison {
  new: Issue[];
  fixed: Issue[];
  unchangedCount: number;
  nextCursor: string | null;
}
/** The label that holds the name of a metric. */
const NAME = '__name__';

interface Sample {
  /** Its labels. */
  metric: Record<string, string>;
  value: [number, string];
}

/**
 * Shows what code analysis finds: in a commit and in one some way before it, what is new and fixed between them, a
 * report of facts about it, and the same numbers by metric queries.
 * @param given a folder; undefined: a small repository is made.
 */
export async function showCodeAnalysis(
  api: DemoClient,
  { given, suffix }: { given: string | undefined; suffix: string },
  say: Say,
): Promise<void> {
  const {
    path,
    name,
    defaultBranch: branch,
    commits,
  } = await readRepository(given ?? (await makeRepository()), undefined);
  const repositoryIdentifier = `demo/${name.replaceAll(/[^\w.-]/g, '-')}-${suffix}`;
  await api.post('/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: path,
    defaultBranch: branch,
    configuration: { displayName: name, qualityGate: { maxNewErrors: 0 } },
  });
  say(`project ${repositoryIdentifier}: ${counted(commits, 'commit')} on ${branch}`);
  if (!(await waitForHistory(api, repositoryIdentifier, say))) return;
  const line = await git(path, 'rev-list', '--first-parent', `--max-count=${COMMITS_BACK + 1}`, branch, '--');
  const [head = '', base = ''] = [line[0], line.at(-1)];
  const of = { repositoryIdentifier, branch };
  let summary: Summary | undefined;
  for (const commitId of new Set([base, head])) {
    summary = await analysed(api, { ...of, commitId }, say);
    if (!summary) return;
  }
  if (base !== head) await sayComparison(api, { ...of, base, head }, say);
  await sayFacts(api, of, say);
  if (summary) await sayMetrics(api, repositoryIdentifier, summary, say);
  say('the project stays: look at the run of each analysis in the Temporal UI');
}

const asQuery = (members: Record<string, string>) => new URLSearchParams(members).toString();
const ask = async <Answer>(api: DemoClient, path: string, query: Record<string, string>): Promise<Answer> =>
  (await api.get(`${path}?${asQuery(query)}`)) as unknown as Answer;

/** Has a commit analysed and says what was found; undefined when it could not be. */
async function analysed(
  api: DemoClient,
  of: Record<string, string> & { commitId: string },
  say: Say,
): Promise<Summary | undefined> {
  const { jobId, message } = await ask<Envelope>(api, PREFIX, { ...of, includeSarif: 'false' });
  say(`commit ${of.commitId.slice(0, 8)} is analysed by run ${jobId ?? '-'}: ${message ?? ''}`);
  const run = await waitFor(
    async () => (await api.get(`/api/flows/runs/${jobId ?? ''}`)) as unknown as Run,
    ({ success }) => success !== null,
    ANALYSIS_MS,
  );
  const { data } = await ask<Envelope>(api, PREFIX, { ...of, includeSarif: 'false' });
  if (!run || !data) {
    say(`  no results: ${run?.success?.error ?? run?.status ?? 'not in time'}`);
    return undefined;
  }
  const { engines = [], files = 0, durationMs = 0, notes = [] } = run.result;
  const { totalIssues, issuesByLevel, issuesByRule, filesAffected } = data.summary;
  say(
    `  ${counted(files, 'file')} in ${(durationMs / 1_000).toFixed(1)} s by ${engines.map((engine) => `${engine.name} ${engine.version}`).join(', ')}`,
  );
  for (const note of notes) say(`  note: ${note}`);
  const levels = Object.entries(issuesByLevel).map(([level, count]) => `${count} ${level}`);
  say(`  ${counted(totalIssues, 'issue')} in ${counted(filesAffected, 'file')}: ${levels.join(', ')}`);
  for (const { ruleId, level, count } of issuesByRule.slice(0, SHOWN)) say(`    ${count} × ${ruleId} (${level})`);
  return data.summary;
}

async function sayComparison(api: DemoClient, of: Record<string, string> & { base: string; head: string }, say: Say) {
  // Right after they were stored, results are still being indexed.
  const compared = await waitFor(
    () => ask<Comparison>(api, `${PREFIX}/compare`, { ...of, limit: '1000' }).catch(() => undefined),
    (answer) => answer !== undefined,
    REPORT_MS,
  );
  if (!compared) return say('  the two were not compared in time');
  const more = compared.nextCursor === null ? '' : ', and more on the next page';
  say(
    `from ${of.base.slice(0, 8)} to ${of.head.slice(0, 8)}: ${compared.new.length} new, ${compared.fixed.length} fixed${more}, ${compared.unchangedCount} unchanged`,
  );
  for (const kind of ['new', 'fixed'] as const)
    for (const { ruleId, level, path, startLine } of compared[kind].slice(0, SHOWN))
      say(`    ${kind}: ${level} ${ruleId} in ${path}:${startLine ?? '-'}`);
}

async function sayFacts(api: DemoClient, of: Record<string, string>, say: Say): Promise<void> {
  const key = { ...of, scope: 'repository', scopeName: 'repository' };
  const { taskExecutionId } = await api.post(`/api/ai-reports/refresh?${asQuery({ ...key, provider: 'local' })}`, {});
  const state = await waitFor(
    () => ask<{ status: string; reportId: string | null; error: string | null }>(api, '/api/ai-reports/status', key),
    ({ status, reportId }) => status !== 'generating' && reportId === taskExecutionId,
    REPORT_MS,
  );
  if (state?.status !== 'completed') return say(`no report of facts: ${state?.error ?? 'not in time'}`);
  const { markdownReport } = await ask<{ markdownReport: string }>(api, '/api/ai-reports/latest', key);
  const facts = markdownReport.split('\n').filter((line) => /^- \*\*F\d+\*\*/.test(line));
  say(`a report of ${counted(facts.length, 'fact')}, without any model; of the code analysis:`);
  const ofAnalysis = facts.filter((fact) => fact.includes('(code analysis)') || fact.includes('code analysis'));
  for (const fact of ofAnalysis.slice(0, SHOWN)) say(`    ${fact.replaceAll(/\\(.)/g, '$1').slice(2, 150)}`);
}

async function sayMetrics(
  api: DemoClient,
  repositoryIdentifier: string,
  { totalIssues, issuesByLevel }: Summary,
  say: Say,
): Promise<void> {
  const newest: Record<string, number> = { issues: totalIssues, errors: issuesByLevel.error ?? 0 };
  const query = `last_over_time({__name__=~"quayside_analysis_.*", repository="${repositoryIdentifier}"}[1d])`;
  const answer = await waitFor(
    () => ask<{ result: Sample[] }>(api, '/api/metrics/query', { query }).catch(() => ({ result: [] })),
    ({ result }) =>
      Object.entries(newest).every(([name, count]) =>
        result.some(({ metric, value }) => metric[NAME] === `quayside_analysis_${name}` && Number(value[1]) === count),
      ),
    METRICS_MS,
  );
  if (!answer) return say('no metrics of today: the store does not run, or has not seen them yet');
  say(`metrics of today, by ${query}:`);
  for (const { metric, value } of answer.result) say(`    ${metric[NAME] ?? ''} = ${value[1]}`);
}

/** Two commits of a component: the second one mends an issue of the first, and brings another one. */
async function makeRepository(): Promise<string> {
  const path = join(newTemporaryFolder(), 'pier');
  const folder = join(path, 'force-app/main/default/lwc/cranes');
  mkdirSync(folder, { recursive: true });
  const commit = async (message: string, text: string) => {
    writeFileSync(join(folder, 'cranes.js'), text);
    await git(path, 'add', '--all');
    await git(path, '-c', 'user.name=Demo', '-c', 'user.email=demo@example.com', 'commit', '--quiet', '-m', message);
  };
  await git(tmpdir(), 'init', '--quiet', '--initial-branch=main', path);
  await git(path, 'config', 'uploadpack.allowFilter', 'true');
  await commit('Count the cranes', 'var cranes = 3;\nexport function count() {\n  return cranes;\n}\n');
  await commit(
    'Find a crane',
    'const cranes = 3;\nexport function count(given) {\n  debugger;\n  if (given == null) return cranes;\n  return given;\n}\n',
  );
  return path;
}
