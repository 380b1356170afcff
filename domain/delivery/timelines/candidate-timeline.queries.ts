import { sql } from 'kysely';
import type { PlaceCursor } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { CandidateRow } from '../release-candidates/release-candidates.queries.ts';
import { shownMove } from './timeline-rules.ts';
import {
  approvalSource,
  deploymentSources,
  holdSources,
  RUN_ENVIRONMENT,
  runSources,
  timelinePage,
  type TimelineSource,
} from './timeline.queries.ts';

/** Events `n` of a candidate. */
const noted = (tenantId: string, candidateId: string) =>
  sql`from release_candidate_event n where n.tenant_id = ${tenantId} and n.candidate_id = ${candidateId}`;

/** What was noted of the candidate. Of one from before events were noted, its row tells when it was made and moved last. */
function ownSources(tenantId: string, { id }: CandidateRow): TimelineSource[] {
  const own = sql`from release_candidate c where c.tenant_id = ${tenantId} and c.id = ${id}`;
  return [
    {
      type: 'created',
      id: sql`c.id`,
      at: sql`c.created_at`,
      columns: { by: sql`c.created_by` },
      rows: own,
    },
    {
      type: 'content_changed',
      id: sql`n.id`,
      at: sql`n.at`,
      columns: {
        by: sql`n.by`,
        detail: sql`case when n.before = n.after then 'Other packages of ' || n.after else n.before || ' became ' || n.after end`,
      },
      rows: sql`${noted(tenantId, id)} and n.type = 'content_changed'`,
    },
    {
      type: 'status_changed',
      id: sql`n.id`,
      at: sql`n.at`,
      columns: { by: sql`n.by`, status: sql`n.after`, detail: sql`n.superseded_by` },
      rows: sql`${noted(tenantId, id)} and n.type = 'status_changed'`,
    },
    {
      type: 'status_changed',
      id: sql`c.id`,
      at: sql`c.status_changed_at`,
      columns: { by: sql`c.status_changed_by`, status: sql`c.status`, detail: sql`c.superseded_by` },
      rows: sql`${own} and c.status_changed_at is not null
        and not exists (select ${noted(tenantId, id)} and n.type = 'status_changed')`,
    },
  ];
}

/** What became of a candidate, newest first. */
export async function candidateTimeline(
  reads: Reads,
  candidate: CandidateRow,
  page: { cursor: PlaceCursor | undefined; limit: number },
) {
  const { db, tenantId } = reads;
  const { id, projectId, domain, releaseName } = candidate;
  const runs = sql`from flow_run r ${RUN_ENVIRONMENT}
    where r.tenant_id = ${tenantId} and r.project_id = ${projectId} and r.domain = ${domain} and r.release_name = ${releaseName}`;
  const [{ items, next }, first] = await Promise.all([
    timelinePage(
      reads,
      [
        ...ownSources(tenantId, candidate),
        ...holdSources(sql`n.tenant_id = ${tenantId} and n.candidate_id = ${id}`),
        ...deploymentSources(sql`d.tenant_id = ${tenantId} and d.candidate_id = ${id}`),
        ...runSources(runs),
        approvalSource(runs),
      ],
      page,
    ),
    db
      .selectFrom('release_candidate_event')
      .where('tenantId', '=', tenantId)
      .where('candidateId', '=', id)
      .where('type', '=', 'created')
      .select('id')
      .executeTakeFirst(),
  ]);
  return { items: items.map(shownMove), next, isComplete: first !== undefined };
}
