import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { ApprovalPolicy } from '../../../projects/policies/approval-policy-rules.ts';
import type { Actor } from '../../../kernel/shared/actor.ts';
import { findCandidate } from '../../release-candidates/release-candidates.queries.ts';
import { inSteps } from '../../../kernel/queues/in-steps.ts';
import { type GatedType, gatesOf, type KnownEnvironment, type RunGates } from './gate-rules.ts';
import { targetNames, type TargetNames } from '../target-name-rules.ts';

interface GatedRun {
  type: GatedType;
  payload: Readonly<Record<string, unknown>>;
  projectId: string | null;
  /** Environment in the run's row: the first that was found when the run was accepted. */
  environmentId: string | null;
  requestedBy?: Pick<Actor, 'projectIds'>;
}

/** The gates of a run as its payload and the tenant's environments are now. */
export async function gatesOfRun(
  reads: Reads,
  { type, payload, projectId, environmentId, requestedBy }: GatedRun,
): Promise<RunGates> {
  // Its name may have changed since.
  const { environmentName: _, environmentId: __, ...unnamed } = payload;
  const names = await inSteps(
    targetNames(environmentId === null ? payload : unnamed, { isOnSandbox: type.target === 'sandbox' }),
  );
  const limitedTo = requestedBy?.projectIds;
  const isDecided = type.gates.approval || type.gates.lock || limitedTo !== undefined;
  const [environments, project] = isDecided
    ? await Promise.all([environmentsMeant(reads, names, projectId, environmentId), projectPolicy(reads, projectId)])
    : [[], null];
  const releaseBranch = type.target === 'release' ? await branchOfRelease(reads, project, payload) : undefined;
  return gatesOf({ type, environmentId, names, project, environments, releaseBranch, limitedTo });
}

/** The policy of a project `p`. */
export const PROJECT_POLICY = sql<ApprovalPolicy | null>`p.configuration->'approvalPolicy'`;

async function projectPolicy({ db, tenantId }: Reads, projectId: string | null) {
  if (projectId === null) return null;
  const project = await db
    .selectFrom('project as p')
    .where('p.tenantId', '=', tenantId)
    .where('p.id', '=', projectId)
    .select(['p.id', 'p.defaultBranch', PROJECT_POLICY.as('approvalPolicy')])
    .executeTakeFirst();
  return project ?? null;
}

/** The branch of the release that a payload names; undefined: there is no such candidate. */
async function branchOfRelease(
  reads: Reads,
  project: { id: string; defaultBranch: string } | null,
  { domain, releaseName }: GatedRun['payload'],
): Promise<string | undefined> {
  if (project === null || typeof domain !== 'string' || typeof releaseName !== 'string') return undefined;
  const candidate = await findCandidate(reads, project.id, { domain, releaseName });
  return candidate && (candidate.branch ?? project.defaultBranch);
}

/** All environments of the project, and those of the tenant that have one of the names as id or org. */
const environmentsMeant = (
  { db, tenantId }: Reads,
  { environments, orgs, sandboxes, mentions }: TargetNames,
  projectId: string | null,
  environmentId: string | null,
): Promise<KnownEnvironment[]> => {
  const usernames = [...new Set([...orgs, ...mentions])];
  const ids = [...environments, ...mentions];
  const org = sql`regexp_replace(lower(normalize(e.org_username, NFKC)), '\\s', '', 'g')`;
  return db
    .selectFrom('environment as e')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .where('e.tenantId', '=', tenantId)
    .where(
      sql<SqlBool>`(e.project_id = ${projectId}::uuid or e.id = ${environmentId}::uuid or e.id::text = any (${ids}::text[])
        or ${org} = any (${usernames}::text[]) or substring(${org} from '[.]([^.]*)$') = any (${[...sandboxes]}::text[]))`,
    )
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .select([
      'e.id',
      'e.projectId',
      'e.name',
      'e.category',
      'e.orgUsername',
      'e.branch',
      'e.isActive',
      'e.approvalPolicy',
      PROJECT_POLICY.as('projectPolicy'),
    ])
    .execute();
};
