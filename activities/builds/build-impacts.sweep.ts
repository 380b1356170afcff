import { buildImpactContract, type BuildImpactInput } from '../../workflows/builds/build-impact.contract.ts';
import type { Deps } from '../deps.ts';

/** A preview that waits for this long lost its start. */
const OVERDUE_SECONDS = 30;
/** A start that never led to a result is not repeated for ever. */
const GIVEN_UP = '1 day';
const MOST = 100;

const OVERDUE = `
  select b.tenant_id as "tenantId", b.project_id as "projectId", p.identifier as "repositoryIdentifier", b.preview_key as "previewKey", b.generation
  from build_preview b join project p on p.tenant_id = b.tenant_id and p.id = b.project_id
  where b.status = 'pending' and b.requested_at < now() - make_interval(secs => $1) and b.requested_at > now() - interval '${GIVEN_UP}'
  order by b.requested_at limit ${MOST}`;

/** Starts computations that were asked for while the engine was away. */
export async function sweepBuildImpacts({ systemPool, launch }: Deps): Promise<number> {
  const { rows } = await systemPool.query<BuildImpactInput>(OVERDUE, [OVERDUE_SECONDS]);
  await Promise.all(rows.map((preview) => launch.start(buildImpactContract, preview)));
  return rows.length;
}
