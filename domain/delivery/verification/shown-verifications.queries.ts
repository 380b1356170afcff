import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import {
  labelOfCheck,
  type VerificationCheck,
  type VerificationPolicy,
} from '../../projects/policies/verification-policy-rules.ts';
import { INSTALLING_STATUSES } from '../deployments/deployments.queries.ts';
import { RUN_BROWSER_CHECK } from '../flows/flow-categories.ts';
import type { CheckState, VerificationFact, VerificationState } from './verification-rules.ts';
import type { Reaction } from './verifications.entities.ts';

/**
 * What the newest verification of the last deployment of a candidate's content to each environment says, by the
 * environment's name; one that was superseded says nothing of what another found.
 */
export async function verificationFacts(
  { db, tenantId }: Reads,
  { id, contentDigest }: { id: string; contentDigest: string },
): Promise<Map<string, VerificationFact>> {
  const { rows } = await sql<VerificationFact & { name: string }>`
    select distinct on (d.environment_id) e.name, v.state, v.detail,
      (extract(epoch from v.ended_at) * 1000)::float8 as "endedAt"
    from release_deployment d
    join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id
    left join lateral (
      select * from verification n where n.tenant_id = d.tenant_id and n.deployment_id = d.id
      order by n.state = 'superseded', n.created_at desc, n.id desc limit 1) v on true
    where d.tenant_id = ${tenantId} and d.candidate_id = ${id} and d.content_digest = ${contentDigest}
      and d.status in ${INSTALLING_STATUSES}
    order by d.environment_id, d.deployed_at desc, d.created_at desc, d.id desc`.execute(db);
  return new Map(rows.map(({ name, ...fact }) => [name, fact]));
}

/** The newest verification of each of some deployments; those that have none are absent. */
export async function verificationsOf(
  { db, tenantId }: Reads,
  deploymentIds: readonly string[],
): Promise<Map<string, ShownVerification>> {
  if (deploymentIds.length === 0) return new Map();
  const { rows } = await sql<StoredVerification>`
    select distinct on (v.deployment_id) v.deployment_id as "deploymentId", v.id, v.state, v.detail, v.reaction,
      v.on_failure as "onFailure", coalesce(v.ended_at, v.begun_at, v.created_at) as since,
      (select coalesce(json_agg(json_build_object('settings', c.settings, 'outcome', c.state,
          'detail', c.detail, 'executionId', c.run_id, 'browserSessionId',
          (select r.result ->> 'sessionId' from flow_run r
            where r.tenant_id = c.tenant_id and r.id = c.run_id and r.task_type = ${RUN_BROWSER_CHECK}))
          order by c.position), '[]')
        from verification_check c where c.tenant_id = v.tenant_id and c.verification_id = v.id) as checks
    from verification v
    where v.tenant_id = ${tenantId} and v.deployment_id = any (${deploymentIds}::uuid[])
    order by v.deployment_id, v.created_at desc, v.id desc`.execute(db);
  return new Map(
    rows.map(({ deploymentId, since, reaction, checks, ...shown }) => [
      deploymentId,
      {
        ...shown,
        since: isoOf(since),
        rollback: reaction && { executionId: reaction.executionId ?? null, error: reaction.error ?? null },
        checks: checks.map(({ settings, ...check }) => ({
          type: settings.type,
          name: labelOfCheck(settings),
          ...check,
        })),
      },
    ]),
  );
}

/** A verification as it is shown with its deployment. */
export interface ShownVerification {
  id: string;
  state: VerificationState;
  /** When it came to that state. */
  since: string;
  detail: string | null;
  onFailure: VerificationPolicy['onFailure'];
  /** The rollback that was asked for; null: none was. */
  rollback: { executionId: string | null; error: string | null } | null;
  checks: (ShownOutcome & { type: string; name: string })[];
}

interface ShownOutcome {
  outcome: CheckState;
  detail: string | null;
  executionId: string | null;
  /** The session in which a recording was played. */
  browserSessionId: string | null;
}

interface StoredVerification extends Omit<ShownVerification, 'rollback' | 'checks'> {
  deploymentId: string;
  reaction: Reaction | null;
  checks: (ShownOutcome & { settings: VerificationCheck })[];
}

/** The last deployment of a candidate's content to an environment that installed something. */
export const lastDeploymentOf = (
  { db, tenantId }: Reads,
  { id, contentDigest }: { id: string; contentDigest: string },
  environmentId: string,
) =>
  db
    .selectFrom('release_deployment as d')
    .where('d.tenantId', '=', tenantId)
    .where('d.candidateId', '=', id)
    .where('d.contentDigest', '=', contentDigest)
    .where('d.environmentId', '=', environmentId)
    .where('d.status', 'in', INSTALLING_STATUSES)
    .orderBy('d.deployedAt', 'desc')
    .orderBy('d.createdAt', 'desc')
    .orderBy('d.id', 'desc')
    .limit(1)
    .select(['d.id', 'd.projectId', 'd.environmentId'])
    .executeTakeFirst();
