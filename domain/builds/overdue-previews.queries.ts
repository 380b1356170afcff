import { secondsAgo } from '../data/conditions.ts';
import type { Database } from '../data/tables.ts';

/** A start that never led to a result is not repeated for ever. */
const GIVEN_UP_AFTER_SECONDS = 86_400;

export interface OverduePreview {
  tenantId: string;
  projectId: string;
  repositoryIdentifier: string;
  previewKey: string;
  generation: number;
}

/** Previews of builds that were asked for so long ago, and are still pending. */
export const overduePreviews = (system: Database, overdueSeconds: number, limit: number): Promise<OverduePreview[]> =>
  system
    .selectFrom('build_preview as b')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'b.tenantId').onRef('p.id', '=', 'b.projectId'))
    .select(['b.tenantId', 'b.projectId', 'p.identifier as repositoryIdentifier', 'b.previewKey', 'b.generation'])
    .where('b.status', '=', 'pending')
    .where('b.requestedAt', '<', secondsAgo(overdueSeconds))
    .where('b.requestedAt', '>', secondsAgo(GIVEN_UP_AFTER_SECONDS))
    .orderBy('b.requestedAt')
    .limit(limit)
    .execute();
