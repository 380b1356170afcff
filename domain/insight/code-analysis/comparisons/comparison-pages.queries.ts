import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { fullCommitId } from '../../../code/git/commits.queries.ts';
import { DomainError, notFound } from '../../../kernel/shared/errors.ts';
import type { BranchOf } from '../analyses.queries.ts';
import { whyIncomplete } from '../sarif/cut-rules.ts';
import { countDifferences, listDifferences } from '../issues.queries.ts';

async function side(reads: Reads, { projectId, branch }: BranchOf, given: string) {
  const { db, tenantId } = reads;
  const commitId = await fullCommitId(reads, projectId, given);
  const found = await db
    .selectFrom('code_analysis')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where('commitId', '=', commitId)
    .select(['id', 'commitId', 'analyzedAt', 'indexedAt', 'summary'])
    .executeTakeFirst();
  if (!found) throw notFound(`An analysis of ${commitId} on ${branch}`);
  if (found.indexedAt === null)
    throw new DomainError('in_progress', `The results of ${commitId} are being indexed; try again`, {
      headers: { 'Retry-After': '2' },
    });
  return found;
}

/**
 * A page of what two commits of a branch differ in: new issues first, then fixed ones.
 * @param cursor `new-<position>` or `fixed-<position>`: the last issue of the page before.
 */
export async function comparedSides(
  reads: Reads,
  branch: BranchOf,
  {
    base: baseCommit,
    head: headCommit,
    limit,
    cursor,
  }: { base: string; head: string; limit: number; cursor?: string | undefined },
) {
  const base = await side(reads, branch, baseCommit);
  const head = await side(reads, branch, headCommit);
  const [kind = 'new', position = '0'] = cursor?.split('-') ?? [];
  const after = Number(position);
  const added =
    kind === 'new' ? await listDifferences(reads, { of: head.id, without: base.id }, { after, limit: limit + 1 }) : [];
  const fixed =
    added.length > limit
      ? []
      : await listDifferences(
          reads,
          { of: base.id, without: head.id },
          { after: kind === 'fixed' ? after : 0, limit: limit + 1 - added.length },
        );
  const isMore = added.length + fixed.length > limit;
  const shownAdded = added.slice(0, limit);
  const shownFixed = fixed.slice(0, limit - shownAdded.length);
  const last = shownFixed.at(-1);
  const lastCursor = last ? `fixed-${last.position}` : `new-${shownAdded.at(-1)?.position ?? 0}`;
  const { unchangedIssues } = await countDifferences(reads, { baseId: base.id, headId: head.id, cutTools: [] });
  const incompleteReason = whyIncomplete({ base: base.summary, head: head.summary });
  return {
    base,
    head,
    new: shownAdded,
    fixed: shownFixed,
    unchangedCount: unchangedIssues,
    isComplete: incompleteReason === null,
    incompleteReason,
    limit,
    nextCursor: isMore ? lastCursor : null,
  };
}
