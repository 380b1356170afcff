import type { History } from '../../code/git/graph/commit-graph-cache.ts';
import { isCut, whyIncomplete } from '../code-analysis/sarif/cut-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { issuesOf, latestAnalysis } from './analysis.queries.ts';
import { counted, dayOf, fact, FACTS_MAX, type FactGroup } from './fact-rules.ts';
import type { ReportSubject } from './report-subject.ts';

const SOURCE = 'code analysis';
/** The most issues that are listed as fixed. */
const FIXED_MAX = 100;

/** What the latest analysis of a branch found in the packages of a report, or in the whole repository; with new and fixed issues. */
export async function analysisGroups(
  tx: Tx,
  { projectId, packages: known }: Pick<History, 'projectId' | 'packages'>,
  { packages, domains }: ReportSubject,
  branch: string,
): Promise<FactGroup[]> {
  const analysis = await latestAnalysis(tx, projectId, branch);
  if (!analysis) return [{ facts: [fact(SOURCE, `The code of branch ${branch} was not analysed yet`)], share: 1 }];
  const { id, baseId, summary } = analysis;
  const base = analysis.baseSummary;
  const folders = domains === undefined ? undefined : packages.flatMap((name) => known.get(name)?.path ?? []);
  const all = { analysisId: id, otherId: baseId, folders, onlyAlone: false, limit: FACTS_MAX };
  const issues = await issuesOf(tx, all);
  const fixed =
    baseId === null
      ? []
      : await issuesOf(tx, { ...all, analysisId: baseId, otherId: id, onlyAlone: true, limit: FIXED_MAX });
  const place = ({ path, startLine }: (typeof issues)[number]) => `${path}${startLine === null ? '' : `:${startLine}`}`;
  const listed = (state: string) => (issue: (typeof issues)[number]) =>
    fact(SOURCE, `${state} ${issue.level} ${issue.ruleId} in ${place(issue)}: ${issue.message}`);
  return [
    { facts: factsAbout(analysis, folders === undefined ? undefined : (issues[0]?.total ?? 0)), share: 5 },
    {
      facts: issues.map((issue) => listed(issue.isAlone ? (isCut(base) ? 'Possibly new' : 'New') : 'Known')(issue)),
      total: issues[0]?.total ?? 0,
      share: 90,
    },
    { facts: fixed.map(listed(isCut(summary) ? 'Possibly fixed' : 'Fixed')), total: fixed[0]?.total ?? 0, share: 25 },
  ];
}

/** What is known of an analysis as a whole. @param issuesHere in the packages of the report; undefined: it is about all. */
function factsAbout(analysis: NonNullable<Awaited<ReturnType<typeof latestAnalysis>>>, issuesHere: number | undefined) {
  const { commitId, analyzedAt, summary, baseSummary: base, newIssues, fixedIssues, gate, indexedAt } = analysis;
  const incompleteReason = whyIncomplete({ base, head: summary });
  const least = isCut(summary) ? 'at least ' : '';
  const { error, warning, note } = summary.issuesByLevel;
  const numbers = `${counted(error, 'error')}, ${counted(warning, 'warning')} and ${counted(note, 'note')} in ${counted(summary.filesAffected, 'file')}`;
  return [
    fact(
      SOURCE,
      `The latest analysis of the whole code, of commit ${commitId.slice(0, 10)} on ${dayOf(analyzedAt)}, found ${least}${numbers}`,
    ),
    ...(summary.analysisSuccessful ? [] : [fact(SOURCE, 'That analysis did not succeed in full')]),
    ...(newIssues === null
      ? []
      : [
          fact(
            SOURCE,
            `${incompleteReason === null ? 'New issues' : 'Of the issues that are kept, those that look new'} since the analysis before it: ${newIssues}; fixed ones: ${fixedIssues ?? 0}`,
          ),
        ]),
    ...(incompleteReason === null ? [] : [fact(SOURCE, incompleteReason)]),
    ...(gate === null || gate.status === 'none'
      ? []
      : [fact(SOURCE, `Its quality gate ${[gate.status, ...gate.reasons].join(': ')}`)]),
    ...(indexedAt === null ? [fact(SOURCE, 'Its issues are not indexed yet, so none is listed here')] : []),
    ...(issuesHere === undefined || indexedAt === null
      ? []
      : [fact(SOURCE, `${least}${counted(issuesHere, 'issue')} of that analysis in the packages of this report`)]),
  ];
}
