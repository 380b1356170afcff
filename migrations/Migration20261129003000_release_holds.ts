import { Migration } from '@mikro-orm/migrations';
import { showToSystem } from './fences.ts';

const HOLDS = `
  alter table release_candidate
    add column holds jsonb not null default '[]',
    add column hold_ends_at timestamptz(3);
  create index release_candidate_hold_ends on release_candidate (hold_ends_at) where hold_ends_at is not null;
  ${showToSystem('release_candidate', 'id, tenant_id, hold_ends_at')}`;

const WAITING = `
  create index flow_run_waiting_promotion on flow_run (tenant_id, project_id)
    where status in ('waiting_window', 'waiting_hold');`;

/** Content that failed a verification whose environment holds releases then, and that none verified there since. */
const HELD_BY_VERIFICATIONS = `
  update release_candidate c set holds = found.holds
  from (
    select tenant_id, candidate_id, jsonb_agg(jsonb_build_object(
        'reason', coalesce(detail, 'it failed'), 'until', null, 'by', 'system:verification',
        'since', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'verification', jsonb_build_object('environmentId', environment_id, 'contentDigest', content_digest))) as holds
    from (
      select distinct on (v.tenant_id, d.candidate_id, d.content_digest, v.environment_id)
        v.tenant_id, d.candidate_id, d.content_digest, v.environment_id, v.state, v.on_failure, v.detail, v.created_at
      from verification v
      join release_deployment d on d.tenant_id = v.tenant_id and d.id = v.deployment_id
      join environment e on e.tenant_id = v.tenant_id and e.id = v.environment_id and e.verification is not null
      where d.candidate_id is not null and d.content_digest is not null
        and (v.state = 'verified' or (v.state = 'failed' and v.on_failure = 'hold'))
      order by v.tenant_id, d.candidate_id, d.content_digest, v.environment_id, v.created_at desc, v.id desc) as last
    where state = 'failed'
    group by tenant_id, candidate_id) as found
  where c.tenant_id = found.tenant_id and c.id = found.candidate_id;`;

/** What holds release candidates back, and runs that wait for it. */
export class ReleaseHolds extends Migration {
  override up(): void {
    this.addSql(HOLDS);
    this.addSql(WAITING);
    this.addSql(HELD_BY_VERIFICATIONS);
  }
}
