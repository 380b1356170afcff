import { FETCH_SIGNAL, gitMirrorContract, type MirrorInput } from '../../workflows/git/git-mirror.contract.ts';
import type { Deps } from '../deps.ts';

/** An ask that was not taken up for this long lost its wake. */
const OVERDUE_SECONDS = 15;
/** The most mirrors of one sweep; the others have their turn in the next. */
const MOST_MIRRORS = 50;

const DUE = `
  select p.tenant_id as "tenantId", p.id as "projectId", p.identifier as "repositoryIdentifier",
    coalesce(m.requested_at > m.attempted_at, true) as "isLost"
  from project p left join git_mirror m on m.tenant_id = p.tenant_id and m.project_id = p.id
  where p.remote_url is not null
    and (m.attempted_at is null and coalesce(m.requested_at, '-infinity') < now() - make_interval(secs => $1)
      or m.next_fetch_at <= now() and m.attempted_at < now() - make_interval(secs => $1)
      or m.requested_at > m.attempted_at and m.requested_at < now() - make_interval(secs => $1))
  order by coalesce(m.next_fetch_at, '-infinity') limit ${MOST_MIRRORS}`;

/** Fetches repositories whose time has come, and those for which a fetch was asked and not begun: only these count. */
export async function sweepMirrors({ systemPool, launch }: Deps): Promise<number> {
  const { rows } = await systemPool.query<MirrorInput & { isLost: boolean }>(DUE, [OVERDUE_SECONDS]);
  await Promise.all(rows.map(({ isLost: _, ...mirror }) => launch.signal(gitMirrorContract, mirror, FETCH_SIGNAL)));
  return rows.filter(({ isLost }) => isLost).length;
}
