import type { ApprovalPolicy, EnvironmentCategory } from '../environments/environments.entities.ts';
import type { Actor } from '../shared/actor.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { ApprovalPolicySchema, type Terms, termsOf } from './approval-policy.ts';
import { NEW_APPROVAL } from './approval-rules.ts';
import { noteRequested, settleFromOutside } from './approval-steps.ts';
import { approvalById, openApprovalsOf } from './approvals.queries.ts';

interface RunToApprove {
  taskType: string;
  projectId: string | null;
  repositoryIdentifier: string | null;
  environmentId: string | null;
  environmentName: string | null;
  environmentCategory: EnvironmentCategory | null;
  environmentPolicy: ApprovalPolicy | null;
  domain: string | null;
  releaseName: string | null;
  ownPolicy: unknown;
  requestedBy: Actor;
}

/** Who asked for a run, and under which request: the approval is requested in their name. Throws `not_found`. */
export async function requesterOf(
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  runId: string,
): Promise<{ requestedBy: Actor; requestId: string | null; traceparent: string | null }> {
  const [row] = await sql<{ requestedBy: Actor; requestId: string | null; traceparent: string | null }>(
    'select requested_by as "requestedBy", request_id as "requestId", traceparent from flow_run where tenant_id = ? and id = ?',
    [tenantId, runId],
  );
  if (!row) throw notFound('The run');
  return row;
}

async function runToApprove({ sql, tenantId }: Tx, runId: string): Promise<RunToApprove> {
  const [row] = await sql<RunToApprove>(
    `select r.task_type as "taskType", r.project_id as "projectId", p.identifier as "repositoryIdentifier", r.environment_id as "environmentId",
       e.name as "environmentName", e.category as "environmentCategory", e.approval_policy as "environmentPolicy", r.domain,
       r.release_name as "releaseName", r.payload->'approvalPolicy' as "ownPolicy", r.requested_by as "requestedBy"
     from flow_run r
       left join project p on p.tenant_id = r.tenant_id and p.id = r.project_id
       left join environment e on e.tenant_id = r.tenant_id and e.id = r.environment_id
     where r.tenant_id = ? and r.id = ?`,
    [tenantId, runId],
  );
  if (!row) throw notFound('The run');
  return row;
}

function termsFor(tx: Tx, { environmentPolicy, environmentCategory, ownPolicy }: RunToApprove): Terms | undefined {
  const own = ApprovalPolicySchema.optional().safeParse(ownPolicy ?? undefined);
  if (!own.success) {
    const [issue] = own.error.issues;
    throw new DomainError(
      'invalid_request',
      `The payload's approvalPolicy cannot be used: ${issue?.path.join('.')} ${issue?.message}`,
    );
  }
  return termsOf({
    environment: environmentPolicy,
    run: own.data,
    isForRelease: environmentCategory === null || environmentCategory === 'release',
    now: tx.now,
  });
}

export interface OpenedApproval {
  approvalId: string;
  taskType: string;
  repositoryIdentifier: string | null;
}

/**
 * Requests the approval that a run needs, or finds the one that it has; undefined when it needs none. An open approval
 * of the same work in the same environment, which an earlier run waits for, goes stale: the newer request replaces it.
 * Throws `not_found` for the run, `invalid_request` for a policy of its payload that makes no sense.
 */
export async function openApproval(tx: Tx, runId: string): Promise<OpenedApproval | undefined> {
  const run = await runToApprove(tx, runId);
  const {
    taskType,
    projectId,
    repositoryIdentifier,
    environmentId,
    environmentName,
    domain,
    releaseName,
    requestedBy,
  } = run;
  const [existing] = await tx.sql<{ id: string }>('select id from approval where tenant_id = ? and run_id = ?', [
    tx.tenantId,
    runId,
  ]);
  if (existing) return { approvalId: existing.id, taskType, repositoryIdentifier };
  const terms = termsFor(tx, run);
  if (!terms) return undefined;

  if (projectId !== null && domain !== null && releaseName !== null) {
    const older = await openApprovalsOf(tx, { projectId, domain, releaseName });
    const replaced = older.filter((each) => each.taskType === taskType && each.environmentName === environmentName);
    for (const each of replaced)
      await settleFromOutside(tx, each, 'stale', { source: 'newer_request', comment: `Replaced by run ${runId}` });
  }
  const id = newId();
  await tx.sql(
    `insert into approval (id, tenant_id, project_id, repository_identifier, run_id, task_type, environment_id, environment_name, domain, release_name,
       status, approvers, min_approvals, allow_self_approval, expires_at, requester_id, requested_by)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, array(select jsonb_array_elements_text(?::jsonb)), ?, ?, ?, ?, ?)`,
    [
      id,
      tx.tenantId,
      projectId,
      repositoryIdentifier,
      runId,
      taskType,
      environmentId,
      environmentName,
      domain,
      releaseName,
      NEW_APPROVAL,
      JSON.stringify(terms.approvers),
      terms.minApprovals,
      terms.allowSelfApproval,
      terms.expiresAt,
      requestedBy.id,
      requestedBy.email,
    ],
  );
  await noteRequested(tx, await approvalById(tx, id));
  return { approvalId: id, taskType, repositoryIdentifier };
}
