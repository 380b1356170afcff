import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { emitEvent } from '../../../events/webhooks/event-catalog.ts';
import { type ComparedAnalysis, noteCompared } from './comparisons.queries.ts';
import { whyIncomplete } from '../sarif/cut-rules.ts';
import { boundsOf, judge } from './gate-rules.ts';
import { countDifferences } from '../issues.queries.ts';

const NO_DIFFERENCES = {
  newIssues: 0,
  newErrors: 0,
  newWarnings: 0,
  wholeNewErrors: 0,
  wholeNewWarnings: 0,
  fixedIssues: 0,
};

/**
 * Compares an analysis with the one before it on its branch, and judges it by the project's quality gate. Announced
 * once: an earlier run that arrives later changes numbers, and nothing else. The first run of a branch is what later
 * ones are compared with: none of its issues counts as new.
 */
export async function compareAnalysis(
  tx: Tx,
  project: ProjectFacts,
  { head, base }: { head: ComparedAnalysis; base: ComparedAnalysis | undefined },
): Promise<void> {
  const sides = { base: base?.summary, head: head.summary };
  const cutTools = (base?.summary.cutTools ?? []).map(({ tool }) => tool);
  const differences = base
    ? await countDifferences(tx, { baseId: base.id, headId: head.id, cutTools })
    : NO_DIFFERENCES;
  const { newIssues, fixedIssues, ...counts } = differences;
  const { totalIssues, issuesByLevel } = head.summary;
  const gate = judge(
    project.configuration.qualityGate,
    boundsOf({ ...counts, errors: issuesByLevel.error }, sides),
    sides,
  );
  const incompleteReason = whyIncomplete(sides);
  const isNews = JSON.stringify(gate) !== JSON.stringify(head.gate);
  const outcome = { baseId: base?.id ?? null, newIssues, fixedIssues, gate };
  const isThere = await noteCompared(tx, head.id, { ...outcome, statusDue: isNews && gate.status !== 'none' });
  if (!isThere || head.announcedAt !== null) return;
  emitEvent(tx, 'code_analysis.completed', {
    id: head.id,
    repositoryIdentifier: project.identifier,
    branch: head.branch,
    commitSha: head.commitId,
    totalIssues,
    errors: issuesByLevel.error,
    warnings: issuesByLevel.warning,
    newIssues,
    fixedIssues,
    isComplete: incompleteReason === null,
    incompleteReason,
    gate,
    analyzedAt: isoOf(head.analyzedAt),
  });
}
