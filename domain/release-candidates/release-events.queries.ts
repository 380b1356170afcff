import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { statement } from '../data/statement.ts';
import type { Tx } from '../unit-of-work.ts';
import type { EnvironmentFacts, LatestDeployment } from './finalization-rules.ts';
import { CANDIDATE_COLUMNS, type CandidateName, type CandidateRow } from './release-candidates.queries.ts';

/** What a release event names. */
export interface EventPlace extends CandidateName {
  repositoryIdentifier: string;
  environmentName: string;
}

const PLACE = statement<EventPlace & { tenantId: string }>()((db, given) =>
  db
    .selectFrom('project')
    .leftJoin('environment', (join) =>
      join
        .onRef('environment.tenantId', '=', 'project.tenantId')
        .onRef('environment.projectId', '=', 'project.id')
        .on('environment.name', '=', given.environmentName),
    )
    .leftJoin('release_candidate as c', (join) =>
      join
        .onRef('c.tenantId', '=', 'project.tenantId')
        .onRef('c.projectId', '=', 'project.id')
        .on('c.domain', '=', given.domain)
        .on('c.releaseName', '=', given.releaseName),
    )
    .where('project.tenantId', '=', given.tenantId)
    .where('project.identifier', '=', given.repositoryIdentifier)
    .select([
      'project.id as projectId',
      'project.configuration',
      'environment.id as environmentId',
      'c.id as candidateId',
      'c.value',
      'c.contentDigest',
    ]),
);

/** Finds what an event names; undefined when the repository is not registered, null members for what it lacks. */
export async function findEventPlace(
  { db, tenantId }: Reads,
  { repositoryIdentifier, environmentName, domain, releaseName }: EventPlace,
) {
  const [place] = await PLACE(db, { tenantId, repositoryIdentifier, environmentName, domain, releaseName });
  return place;
}

const ENVIRONMENTS = sql<EnvironmentFacts[]>`(
  select coalesce(json_agg(json_build_object('id', e.id, 'name', e.name, 'category', e.category, 'isActive', e.is_active, 'branch', e.branch)
    order by e.orchestration_order, e.name), '[]')
  from environment as e where e.tenant_id = d.tenant_id and e.project_id = d.project_id and e.category = 'release')`;

/** Of those that are applied, and the one being applied. */
const LATEST = sql<LatestDeployment[]>`(
  select coalesce(json_agg(latest), '[]') from (
    select distinct on (o.environment_id) o.environment_id as "environmentId", o.status, o.rolled_back_at is not null as "isRolledBack"
    from release_deployment as o
    where o.tenant_id = d.tenant_id and o.candidate_id = d.candidate_id and (o.applied_at is not null or o.id = d.id)
    order by o.environment_id, o.deployed_at desc, o.id desc) as latest)`;

const STORED = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  db
    .selectFrom('release_deployment as d')
    .innerJoin('project', (join) =>
      join.onRef('project.tenantId', '=', 'd.tenantId').onRef('project.id', '=', 'd.projectId'),
    )
    .leftJoin('release_candidate as c', (join) =>
      join.onRef('c.tenantId', '=', 'd.tenantId').onRef('c.id', '=', 'd.candidateId'),
    )
    .where('d.tenantId', '=', tenantId)
    .where('d.id', '=', id)
    .forUpdate('d')
    .select([
      'd.status as deploymentStatus',
      'd.appliedAt',
      'd.outcome',
      'project.identifier',
      'project.defaultBranch',
      'project.configuration',
      ENVIRONMENTS.as('environments'),
      LATEST.as('latestDeployments'),
      ...CANDIDATE_COLUMNS.map((column) => `c.${column}` as const),
    ]),
);

type Joined<Row> = { [Column in keyof Row]: Row[Column] | null };
const isFound = (candidate: Joined<CandidateRow>): candidate is CandidateRow => candidate.id !== null;

/**
 * A stored event with all that decides it, locked until this transaction ends; undefined when its project was removed.
 * Its candidate is undefined when that was deleted.
 */
export async function lockEvent({ db, tenantId }: Tx, id: string) {
  const [row] = await STORED(db, { tenantId, id });
  if (!row) return undefined;
  const {
    deploymentStatus,
    appliedAt,
    outcome,
    identifier,
    defaultBranch,
    configuration,
    environments,
    latestDeployments,
    ...joined
  } = row;
  return {
    deploymentStatus,
    isApplied: appliedAt !== null,
    outcome,
    project: { identifier, defaultBranch, configuration },
    environments,
    latestDeployments,
    candidate: isFound(joined) ? joined : undefined,
  };
}
