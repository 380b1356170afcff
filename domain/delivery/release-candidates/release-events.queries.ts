import { type Expression, sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { RunWorkflowKey } from '../../kernel/shared/workflow-path-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { ownReport, type ReportRow } from '../deployments/deployment-facts.queries.ts';
import { INSTALLING_STATUSES } from '../deployments/deployments.queries.ts';
import type { EnvironmentFacts } from './finalization-rules.ts';
import { CANDIDATE_COLUMNS, type CandidateName, type CandidateRow } from './release-candidates.queries.ts';

/** What a release event names. */
export interface EventPlace extends CandidateName {
  repositoryIdentifier: string;
  environmentName: string;
}

/** Columns of the installing reports `d` to the environment and domain. */
const INSTALLATION = sql`
  select d.deployed_at, d.rolled_back_at, d.rollback from release_deployment d
  where d.tenant_id = c.tenant_id and d.environment_id = environment.id and d.domain = c.domain and d.status in ${INSTALLING_STATUSES}`;

/**
 * When a report that comes late was taken back: along with what was deployed next to the environment and domain, or,
 * where the rollback itself came next, along with what was deployed before. Not so the release that a rollback restored.
 */
const takenBackAt = (deployedAt: Expression<string>) => sql<string | null>`(
  select case
    when exists (
      select from release_deployment o
      where (o.tenant_id, o.project_id, o.domain, o.release_name, o.environment_id)
        = (c.tenant_id, c.project_id, c.domain, c.release_name, environment.id) and o.rollback is not null) then null
    when next.rolled_back_at is not null then next.rolled_back_at
    when next.deployed_at < last.rolled_back_at and next.rollback is null then null
    when last.rolled_back_at > ${deployedAt}::timestamptz then last.rolled_back_at end
  from (select) as one
  left join lateral (${INSTALLATION} and d.deployed_at > ${deployedAt}::timestamptz
    order by d.deployed_at, d.created_at, d.id limit 1) as next on true
  left join lateral (${INSTALLATION} and d.deployed_at <= ${deployedAt}::timestamptz
    order by d.deployed_at desc, d.created_at desc, d.id desc limit 1) as last on true)`;

const PLACE = statement<EventPlace & { tenantId: string; deployedAt: string | undefined }>()((db, given) =>
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
    .leftJoin('git_commit as commit', (join) =>
      join
        .onRef('commit.tenantId', '=', 'c.tenantId')
        .onRef('commit.projectId', '=', 'c.projectId')
        .onRef('commit.sha', '=', 'c.commitSha')
        .on('project.remoteUrl', 'is not', null),
    )
    .where('project.tenantId', '=', given.tenantId)
    .where('project.identifier', '=', given.repositoryIdentifier)
    .select([
      'project.id as projectId',
      'project.configuration',
      'project.remoteUrl',
      'environment.id as environmentId',
      'environment.promotion',
      'environment.approvalPolicy',
      'environment.orchestrationOrder',
      'c.id as candidateId',
      'c.commitSha',
      'c.value',
      'c.contentDigest',
      'c.holds',
      sql<boolean>`project.remote_url is null or commit.sha is not null`.as('isCommitKnown'),
      sql<number>`(extract(epoch from date_trunc('milliseconds', now())) * 1000)::float8`.as('now'),
      (given.deployedAt ? takenBackAt(given.deployedAt) : sql<string | null>`null`).as('takenBackAt'),
    ]),
);

/**
 * Finds what an event names; undefined when the repository is not registered, null members for what it lacks.
 * `isCommitKnown`: the repository has the candidate's commit, or there is none to ask.
 * `now`: by the database's clock, which all processes share, in milliseconds since the epoch.
 * @param deployedAt absent: now.
 */
export async function findEventPlace(
  { db, tenantId }: Reads,
  { repositoryIdentifier, environmentName, domain, releaseName }: EventPlace,
  deployedAt: Date | undefined,
) {
  const name = { repositoryIdentifier, environmentName, domain, releaseName };
  const [place] = await PLACE(db, { tenantId, ...name, deployedAt: deployedAt?.toISOString() });
  return place;
}

const ENVIRONMENTS = sql<EnvironmentFacts[]>`(
  select coalesce(json_agg(json_build_object('id', e.id, 'name', e.name, 'category', e.category, 'isActive', e.is_active, 'branch', e.branch)
    order by e.orchestration_order, e.name), '[]')
  from environment as e where e.tenant_id = event.tenant_id and e.project_id = event.project_id and e.category = 'release')`;

/** Reports to active release environments: those that are applied, and the one being applied. */
const REPORTS = sql<ReportRow[]>`(
  select coalesce(json_agg(reports), '[]') from (
    select ${ownReport(sql`c.content_digest`)}
    from release_deployment as d
    join environment as e on e.tenant_id = d.tenant_id and e.id = d.environment_id and e.category = 'release' and e.is_active
    where d.tenant_id = event.tenant_id and d.candidate_id = event.candidate_id and (d.applied_at is not null or d.id = event.id)) as reports)`;

/** Runs that wait for a window with the candidate, or for what must be deployed before. */
const WAITING_RUNS = sql<RunWorkflowKey[]>`(
  select coalesce(json_agg(json_build_object('runId', r.id, 'taskType', r.task_type, 'workflowPath', r.workflow_path)), '[]') from flow_run as r
  where r.status = 'waiting_window' and r.has_workflow and r.tenant_id = event.tenant_id and r.project_id = event.project_id
    and r.domain = event.domain and r.release_name = event.release_name)`;

const STORED = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  db
    .selectFrom('release_deployment as event')
    .innerJoin('project', (join) =>
      join.onRef('project.tenantId', '=', 'event.tenantId').onRef('project.id', '=', 'event.projectId'),
    )
    .leftJoin('release_candidate as c', (join) =>
      join.onRef('c.tenantId', '=', 'event.tenantId').onRef('c.id', '=', 'event.candidateId'),
    )
    .where('event.tenantId', '=', tenantId)
    .where('event.id', '=', id)
    .forUpdate('event')
    .select([
      'event.status as deploymentStatus',
      'event.contentDigest as deployedDigest',
      'event.appliedAt',
      'event.outcome',
      'project.identifier',
      'project.defaultBranch',
      'project.configuration',
      ENVIRONMENTS.as('environments'),
      REPORTS.as('reports'),
      WAITING_RUNS.as('waitingRuns'),
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
    deployedDigest,
    appliedAt,
    outcome,
    identifier,
    defaultBranch,
    configuration,
    environments,
    reports,
    waitingRuns,
    ...joined
  } = row;
  return {
    deploymentStatus,
    deployedDigest,
    isApplied: appliedAt !== null,
    outcome,
    project: { identifier, defaultBranch, configuration },
    environments,
    reports,
    waitingRuns,
    candidate: isFound(joined) ? joined : undefined,
  };
}
