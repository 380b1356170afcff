import type { z } from 'zod';
import type { AnalysisRow } from '../../../domain/insight/code-analysis/analyses.queries.ts';
import { isCut, whyIncomplete } from '../../../domain/insight/code-analysis/sarif/cut-rules.ts';
import type { Scope } from '../../http/scope.ts';
import type { AnalysisOut } from './code-analysis.schemas.ts';

export const PREFIX = '/api/testreports/code-analysis';

export const sarifUrl = ({ publicUrl }: Pick<Scope, 'publicUrl'>, id: string): string =>
  `${publicUrl}${PREFIX}/results/${id}/sarif`;

/** An analysis without its log, as clients see it. */
export function shownAnalysis(
  scope: Pick<Scope, 'publicUrl'>,
  repositoryIdentifier: string,
  row: AnalysisRow,
): z.input<typeof AnalysisOut> {
  const { id, branch, commitId, analyzedAt, durationMs: duration, summary, gate, triggeredBy, isScheduled } = row;
  return {
    id,
    repositoryIdentifier,
    branch,
    commitId,
    analyzedAt,
    duration,
    summary: {
      ...summary,
      isComplete: !isCut(summary),
      incompleteReason: whyIncomplete({ head: summary }),
      newIssues: row.newIssues,
      fixedIssues: row.fixedIssues,
    },
    metadata: {
      triggeredBy,
      scheduledRun: isScheduled,
      tools: [...new Set(summary.toolsUsed.map(({ name }) => name))],
    },
    gate,
    sarifUrl: sarifUrl(scope, id),
  };
}
